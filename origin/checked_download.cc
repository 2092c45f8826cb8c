#include "origin/checked_download.h"

#include <optional>
#include <utility>

#include "base/log.h"

namespace orlop {

bool CheckedMemory::try_take(std::uint64_t bytes) {
  auto taken = taken_.load(std::memory_order_relaxed);
  while (bytes <= bytes_max_ - taken) {
    if (taken_.compare_exchange_weak(taken, taken + bytes, std::memory_order_relaxed)) return true;
  }
  return false;
}

CheckedDownload::CheckedDownload(const CheckedDownloadParts& parts, Fingerprint opened,
                                 SharedMetaInfo metainfo,
                                 std::shared_ptr<Verification> verification)
    : parts_(parts),
      opened_(opened),
      verification_(std::move(verification)),
      reader_(parts.disk, std::move(metainfo)) {}

CheckedDownload::~CheckedDownload() { parts_.memory.give_back(taken_bytes_); }

bool CheckedDownload::verified() const {
  return verification_->done.is_set() && verification_->right == opened_;
}

Task<Result<std::span<const std::byte>>> CheckedDownload::read(const UniqueFd& file,
                                                               std::uint64_t offset) {
  if (!co_await take_memory()) {
    if (verified()) co_return std::span<const std::byte>();
    co_return Error(Errc::busy, "too many unverified blobs are being read");
  }
  auto bytes = co_await parts_.pool.run_admitted([&] { return reader_.read(file, offset); });
  if (!bytes && bytes.error().code() == Errc::corrupt) {
    log_error("piece_mismatch", {{"digest", reader_.metainfo().digest().to_string()},
                                 {"offset", offset},
                                 {"reason", bytes.error().detail()}});
    settle_behind();
  }
  co_return bytes;
}

Task<bool> CheckedDownload::take_memory() {
  if (taken_bytes_ > 0) co_return true;
  const auto bytes = CheckedReader::window_bytes(reader_.metainfo());
  if (!parts_.memory.try_take(bytes)) {
    (void)co_await verification_->done.wait_for(kWaitMax);
    if (verified() || !parts_.memory.try_take(bytes)) co_return false;
  }
  taken_bytes_ = bytes;
  co_return true;
}

/// A sum may be wrong and the bytes right, if it came from a sidecar: only SHA-256 decides.
void CheckedDownload::settle_behind() {
  const auto digest = reader_.metainfo().digest();
  auto claim = parts_.claims.try_claim(digest);
  if (!claim)
    return;  // Somebody is at it; if that leaves the blob as it is, its verification ends it.
  auto settle = [&settlement = parts_.settlement, digest, claim = *std::move(claim)] {
    if (const auto settled = settlement.settle_by_hashing(digest); !settled) {
      log_error("blob_not_settled",
                {{"digest", digest.to_string()}, {"reason", settled.error().detail()}});
    }
  };
  parts_.pool.post(std::move(settle));
}

}  // namespace orlop
