#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/worker_pool.h"
#include "metadata/records.h"
#include "origin/blob_settlement.h"
#include "origin/checked_download.h"
#include "origin/verifications.h"
#include "store/digest_claims.h"
#include "store/open_blobs.h"

namespace orlop {

/// A blob that is open for reading. It can be read to its end even if it is deleted meanwhile.
struct OpenBlob {
  OpenBlob(Digest of, std::uint64_t size, UniqueFd from, OpenBlobs::Pin pin = {})
      : digest(of), size_bytes(size), file(std::move(from)), reading(std::move(pin)) {}

  Digest digest;
  std::uint64_t size_bytes;
  UniqueFd file;
  OpenBlobs::Pin reading;        ///< Clean-up leaves the blob meanwhile.
  std::vector<std::byte> bytes;  ///< The whole blob if it is small, else empty.
  /// The only way to the bytes of a blob that is not verified yet; null if it is.
  std::unique_ptr<CheckedDownload> checked;
};

/// A blob that is here.
struct FoundBlob {
  BlobRecord record;
  bool verified;  ///< False: its bytes have not been hashed since the file was found or changed.
};

struct BlobLookupOptions {
  /// For the pieces of all checked downloads together.
  std::uint64_t checked_bytes_max = 256 << 20;
};

/// Answers "is this blob here?" for everybody: reading, stat, start, commit and delete use this one
/// look-up (design, section 3). Here means a record *and* a file with the recorded size whose
/// fingerprint is the recorded one. Whatever else is found is settled first, under a claim
/// (origin/blob_settlement.h), but for one thing: a file that nobody hashed as it is, and of which
/// the metainfo is known, is here for readers at once. Its pieces are compared on their way out,
/// and it is hashed behind them.
///
/// What it is constructed with outlives it; the settlement and the claims also outlive the pool.
/// Safe from any reactor and any thread.
class BlobLookup {
 public:
  /// How long anybody waits for the outcome of somebody else's change of a digest.
  static constexpr std::chrono::milliseconds kOutcomeWaitMax{30'000};
  /// Blobs up to this size come with their bytes.
  static constexpr std::uint64_t kInlineBytesMax = 64 * 1024;

  BlobLookup(BlobSettlement& settlement, DigestClaims& claims, OpenBlobs& open_blobs, Disk& disk,
             const Clock& clock, WorkerPool& pool, BlobLookupOptions options = {});

  /// For reading. `not_found` if it is not here, `busy` if that is not known in time.
  Task<Result<OpenBlob>> open(Digest digest) { return open_for(digest, For::reading); }
  /// For an answer that is only a head: it says that the blob is here, so it is durable then.
  Task<Result<OpenBlob>> open_for_head(Digest digest) { return open_for(digest, For::telling); }

  /// For those who ask about a blob that they may read: its size and more. Durable. As `open`.
  Task<Result<FoundBlob>> stat(Digest digest);

  /// For those who need not send the blob because it is here: hashed first if need be. As `open`.
  Task<Result<BlobRecord>> stat_verified(Digest digest);

  /// The claim on a digest once nobody else has it. `busy` if it takes too long.
  Task<Result<DigestClaims::Claim>> claim(Digest digest);

  /// Whether the blob is here and verified, settled if need be. Blocks. The caller holds the
  /// digest's claim.
  Result<bool> here_under_claim(Digest digest) { return settlement_.settle(digest); }

  /// Blobs that wait to be hashed behind their readers.
  std::size_t verifications_waiting() const { return verifications_.waiting(); }

 private:
  /// What the asker will do with the answer: send the bytes, say that the blob is here (and clients
  /// skip their push), or let a push end with it.
  enum class For : std::uint8_t { reading, telling, vouching };

  struct Sight {
    Inspection found;
    std::shared_ptr<Verification> verification;  ///< Of an unverified blob.
  };

  Task<Result<OpenBlob>> open_for(Digest digest, For purpose);
  Task<Result<Sight>> look_up(Digest digest, For purpose);
  Result<> make_durable(Digest digest, const Sight& sight);
  Result<> settle_claimed(Digest digest, For purpose);

  BlobSettlement& settlement_;
  DigestClaims& claims_;
  OpenBlobs& open_blobs_;
  Disk& disk_;
  const Clock& clock_;
  WorkerPool& pool_;
  CheckedMemory checked_memory_;
  Verifications verifications_;  // Last: its thread uses the settlement.
};

}  // namespace orlop
