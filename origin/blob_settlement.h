#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>

#include "base/clock.h"
#include "base/disk.h"
#include "core/metainfo.h"
#include "core/piece.h"
#include "metadata/catalogue.h"
#include "store/blob_files.h"
#include "store/digest_claims.h"
#include "store/layout.h"

namespace orlop {

/// What record and file say of a digest together.
enum class Presence : std::uint8_t {
  absent,
  here,        ///< Record and file, and the file is as it was when its bytes were hashed.
  unverified,  ///< Record, file of that size and metainfo, but nobody hashed the file as it is.
  unsettled,   ///< They contradict each other, or there is only one of them.
};

struct Inspection {
  Presence presence = Presence::absent;
  std::optional<BlobRecord> record;
  UniqueFd file;
  FileStat stat;
  SharedMetaInfo metainfo;  ///< Of an unverified blob.
};

/// What `BlobSettlement::index` found and made of it.
enum class Indexed : std::uint8_t {
  absent,       ///< No file; or none any more.
  known,        ///< There was a record already.
  recorded,     ///< By its sidecar, without being hashed.
  hashed,       ///< No good sidecar; its bytes are what its name says.
  quarantined,  ///< Its bytes are something else.
  in_use,       ///< Somebody else is busy with it. Come back later.
};

struct BlobSettlementOptions {
  /// Blobs up to this size are hashed rather than read by the checked path.
  std::uint64_t hash_first_bytes_max = 64 * 1024;
  /// Longer pieces are too much for memory: such blobs are hashed first too.
  std::uint64_t checked_piece_bytes_max = 64 << 20;
};

/// Brings record and file of a digest together: files without a record are adopted, records without
/// a file dropped, files that may have changed hashed, and bad ones set aside
/// (docs/decisions/0005-adoption-and-fingerprints.md and 0007-checked-path.md).
///
/// Calls block, for as long as hashing takes if a blob has to be hashed. Safe from any thread.
/// "Under a claim": the caller holds the digest's claim. What it is constructed with outlives it.
class BlobSettlement {
 public:
  BlobSettlement(Disk& disk, const Clock& clock, BlobFiles& files, Catalogue& catalogue,
                 DigestClaims& claims, const PieceLengths& piece_lengths, const Layout& layout,
                 BlobSettlementOptions options = {})
      : disk_(disk),
        clock_(clock),
        files_(files),
        catalogue_(catalogue),
        claims_(claims),
        piece_lengths_(piece_lengths),
        layout_(layout),
        options_(options) {}

  /// Looks, and changes nothing but what is cached.
  Result<Inspection> inspect(Digest digest) const;

  /// Under a claim: whether the blob is here with bytes that were hashed and are durable. Whatever
  /// is neither absent nor here is hashed for that.
  Result<bool> settle(Digest digest);
  /// The same, but the bytes are hashed in any case.
  Result<bool> settle_by_hashing(Digest digest);

  /// Under a claim: makes the blob readable with as little work as that takes. What is unverified
  /// afterwards is not durable yet: see `sync`.
  Result<Presence> settle_for_reading(Digest digest);

  /// Makes the blob's file, its names and all records durable.
  Result<> sync(Digest digest, const UniqueFd& file);

  /// Takes up a file that has no record yet, for whoever walks the folders. A blob with a good
  /// `_torrentmeta` is recorded without being read, and unsynced: a power cut may take the record,
  /// and then the next look finds the file again. Others are hashed, synced, and recorded or
  /// quarantined. Takes the claim itself. `busy` if stopped; try the digest again next time.
  Result<Indexed> index(Digest digest, const std::stop_token& stop = {});

  /// Hashes an unverified blob while others go on reading it, without a claim until the outcome is
  /// known. The fingerprint of the file that was right; nothing if it was wrong (quarantined), was
  /// settled by somebody else, changed meanwhile, could not be read, or a stop was requested.
  std::optional<Fingerprint> verify(Digest digest, const std::stop_token& stop);

  // For those who hashed a blob's file at their own pace, without holding its claim: the scrub.
  // Both under a claim.

  /// The file has these bytes, which are right; stat(2) said `hashed` before and after they were
  /// read. Makes it durable, its fingerprint the recorded one, and the recorded sums those of the
  /// bytes. False, and nothing done, if there is another file now.
  Result<bool> confirm(const MetaInfo& metainfo, const FileStat& hashed);
  /// The file has other bytes than its name says. Sets it aside as evidence and forgets the blob.
  Result<> set_aside(Digest digest, const MetaInfo& bytes_are);

 private:
  Result<Inspection> look_at(Digest digest) const;
  Result<bool> settle_found(Digest digest, Inspection found, const std::stop_token& stop);
  Result<bool> record_by_sidecars(Digest digest, const Inspection& found);
  Result<MetaInfo> hash(Digest digest, const Inspection& found, const std::stop_token& stop) const;
  Result<bool> conclude(Digest digest, const Inspection& found, const MetaInfo& bytes_are);
  Result<> forget(Digest digest, const std::optional<BlobRecord>& record);
  Result<> quarantine(Digest digest, const Inspection& found, const MetaInfo& bytes_are);
  Result<> adopt(Digest digest, const FileStat& file, const MetaInfo& metainfo,
                 const Sidecars& sidecars, std::optional<Fingerprint> fingerprint);
  Result<> renew(Digest digest, const Inspection& found, const MetaInfo& metainfo);
  Result<> sync_file(Digest digest, const UniqueFd& file);

  Disk& disk_;
  const Clock& clock_;
  BlobFiles& files_;
  Catalogue& catalogue_;
  DigestClaims& claims_;
  const PieceLengths& piece_lengths_;
  const Layout& layout_;
  const BlobSettlementOptions options_;
};

}  // namespace orlop
