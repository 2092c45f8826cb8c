#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cluster/origin_client.h"
#include "core/digest.h"

namespace orlop {

/// The bytes that are sent. Read again from anywhere after a cut.
class BlobSource {
 public:
  virtual ~BlobSource() = default;
  virtual std::uint64_t size_bytes() const = 0;
  /// Fills `into` from `offset` on; `corrupt` if there is less, since then it is another blob.
  virtual Result<> read(std::span<std::byte> into, std::uint64_t offset) = 0;
};

/// Where received bytes go, in order.
class BlobSink {
 public:
  virtual ~BlobSink() = default;
  virtual Result<> write(std::span<const std::byte> bytes) = 0;
  /// All that was written is wrong: it begins again.
  virtual Result<> restart() = 0;
};

struct TransferOptions {
  std::uint64_t chunk_bytes = 32 << 20;  ///< As Kraken's client.
  /// Failures in a row, without a byte of progress between them, until an origin is given up.
  int failures_max = 4;
  std::chrono::milliseconds first_pause{200};  ///< Doubled after each failure, up to the longest.
  std::chrono::milliseconds longest_pause{5'000};
  /// How long an origin may fetch the blob from elsewhere before it sends it (202).
  std::chrono::milliseconds fetch_max{15 * 60'000};
};

/// Called as bytes move, with how many of the blob are there.
using TransferProgress = std::function<void(std::uint64_t bytes)>;

enum class Uploaded : std::uint8_t { sent, was_here };

/// Sends a blob to the first of the origins that takes it. A cut is no failure: it goes on where
/// the origin has it up to, and with the next origin from the start. Gives up with the last
/// origin's error, and at once where no origin can do better (`invalid_argument`, or the source's
/// own error).
///
/// Coroutines of one reactor; everything given by reference outlives them.
Task<Result<Uploaded>> upload_blob(std::vector<OriginClient*> origins, std::string_view name_space,
                                   Digest digest, BlobSource& source,
                                   const TransferOptions& options,
                                   const TransferProgress& progress);

/// Receives a blob from the first of the origins that has it, goes on where it was after a cut, and
/// compares what came with the digest: the size on success. `not_found` if no origin has it;
/// `digest_mismatch` if all that have it sent other bytes.
Task<Result<std::uint64_t>> download_blob(std::vector<OriginClient*> origins,
                                          std::string_view name_space, Digest digest,
                                          BlobSink& sink, const TransferOptions& options,
                                          const TransferProgress& progress);

}  // namespace orlop
