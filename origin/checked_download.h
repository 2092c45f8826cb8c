#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "base/asio.h"
#include "base/worker_pool.h"
#include "metadata/records.h"
#include "origin/blob_settlement.h"
#include "origin/verifications.h"
#include "store/checked_reader.h"
#include "store/digest_claims.h"

namespace orlop {

/// What all checked downloads together may take in memory. Safe from any thread.
class CheckedMemory {
 public:
  explicit CheckedMemory(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  bool try_take(std::uint64_t bytes);
  void give_back(std::uint64_t bytes) { taken_.fetch_sub(bytes, std::memory_order_relaxed); }

 private:
  const std::uint64_t bytes_max_;
  std::atomic<std::uint64_t> taken_ = 0;
};

/// What checked downloads use together; outlives them. The claims and the settlement also outlive
/// the pool.
struct CheckedDownloadParts {
  Disk& disk;
  DigestClaims& claims;
  BlobSettlement& settlement;
  WorkerPool& pool;
  CheckedMemory& memory;
};

/// The bytes of one unverified blob on their way to one client: each piece is read whole and
/// compared with its sum before a byte of it goes out (design, section 5). Belongs to one request,
/// on its reactor.
class CheckedDownload {
 public:
  /// How long a download waits for memory or for its blob to be verified, which comes to the same.
  static constexpr std::chrono::milliseconds kWaitMax{30'000};

  /// `opened`: the file that will be read, as it was when it was opened.
  CheckedDownload(const CheckedDownloadParts& parts, Fingerprint opened, SharedMetaInfo metainfo,
                  std::shared_ptr<Verification> verification);
  CheckedDownload(const CheckedDownload&) = delete;
  CheckedDownload& operator=(const CheckedDownload&) = delete;
  ~CheckedDownload();

  /// Meanwhile the file was hashed and is right: its bytes need no more checking.
  bool verified() const;

  /// Compared bytes from `offset` on, one at least, good until the next call. Empty only if the
  /// blob became `verified` while this waited for memory. `corrupt` if the bytes are not what they
  /// should be: nothing of them may be sent. The digest is then already claimed by a worker that
  /// hashes the file and sets it aside if it is bad, so whoever asks next gets the outcome. `busy`
  /// if there was no memory in time.
  Task<Result<std::span<const std::byte>>> read(const UniqueFd& file, std::uint64_t offset);

 private:
  Task<bool> take_memory();
  void settle_behind();

  const CheckedDownloadParts parts_;
  const Fingerprint opened_;
  const std::shared_ptr<Verification> verification_;
  CheckedReader reader_;
  std::uint64_t taken_bytes_ = 0;
};

}  // namespace orlop
