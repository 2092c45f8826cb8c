#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/worker_pool.h"
#include "core/piece.h"
#include "metadata/catalogue.h"
#include "store/blob_files.h"
#include "store/digest_claims.h"

namespace orlop {

/// A blob that is open for reading. It can be read to its end even if it is deleted meanwhile.
struct OpenBlob {
  OpenBlob(Digest of, std::uint64_t size, UniqueFd from)
      : digest(of), size_bytes(size), file(std::move(from)) {}

  Digest digest;
  std::uint64_t size_bytes;
  UniqueFd file;
  std::vector<std::byte> bytes;  ///< The whole blob if it is small, else empty.
};

/// Answers "is this blob here?" for everybody: reading, stat, start, commit and delete use this one
/// look-up (design, section 3). Here means a record *and* a file with the recorded size whose
/// fingerprint is the recorded one. Whatever else is found is settled first, under a claim: a file
/// without a record, or with another fingerprint, is hashed and then recorded or set aside; a
/// record without a file is dropped.
///
/// What it is constructed with outlives it. Safe from any reactor and any thread.
class BlobLookup {
 public:
  /// How long anybody waits for the outcome of somebody else's change of a digest.
  static constexpr std::chrono::milliseconds kOutcomeWaitMax{30'000};
  /// Blobs up to this size come with their bytes.
  static constexpr std::uint64_t kInlineBytesMax = 64 * 1024;

  BlobLookup(Disk& disk, const Clock& clock, BlobFiles& files, Catalogue& catalogue,
             DigestClaims& claims, const PieceLengths& piece_lengths, const Layout& layout,
             WorkerPool& pool)
      : disk_(disk),
        clock_(clock),
        files_(files),
        catalogue_(catalogue),
        claims_(claims),
        piece_lengths_(piece_lengths),
        layout_(layout),
        pool_(pool) {}

  /// `not_found` if it is not here, `busy` if that is not known in time.
  Task<Result<OpenBlob>> open(Digest digest);

  /// The record of a blob that is here: its size and more. As `open`.
  Task<Result<BlobRecord>> stat(Digest digest);

  /// The claim on a digest once nobody else has it. `busy` if it takes too long.
  Task<Result<DigestClaims::Claim>> claim(Digest digest);

  /// Whether the blob is here, settled if need be. Blocks. The caller holds the digest's claim.
  Result<bool> here_under_claim(Digest digest);

 private:
  enum class Presence : std::uint8_t { absent, here, unsettled };

  struct Inspection {
    Presence presence = Presence::absent;
    std::optional<BlobRecord> record;
    UniqueFd file;
    FileStat stat;
  };

  Result<Inspection> inspect(Digest digest) const;
  Task<Result<Inspection>> look_up(Digest digest);
  Result<bool> settle(Digest digest, Inspection found);
  Result<bool> record_verified(Digest digest, const Inspection& found, const MetaInfo& metainfo);
  Result<> adopt(Digest digest, const FileStat& file, const MetaInfo& metainfo);
  Result<> sync_names(Digest digest);

  Disk& disk_;
  const Clock& clock_;
  BlobFiles& files_;
  Catalogue& catalogue_;
  DigestClaims& claims_;
  const PieceLengths& piece_lengths_;
  const Layout& layout_;
  WorkerPool& pool_;
};

}  // namespace orlop
