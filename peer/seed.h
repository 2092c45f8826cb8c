#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "base/asio.h"
#include "base/result.h"
#include "core/digest.h"
#include "core/infohash.h"

namespace orlop {

/// A blob whose pieces one connection is being sent. It can be read to its end even if it is
/// deleted meanwhile. Used on the seeder's thread.
class Seed {
 public:
  virtual ~Seed() = default;

  virtual InfoHash infohash() const = 0;
  virtual std::uint64_t size_bytes() const = 0;
  virtual std::uint64_t piece_length() const = 0;
  /// Of a file with the blob's bytes, open for reading.
  virtual int descriptor() const = 0;

  /// Makes [offset, offset + length) ready to be sent, so that sending them does not wait for a
  /// disk. Nothing: from `descriptor()`. Else: these bytes, one at least and perhaps fewer, good
  /// until the next call; that is how bytes come that had to be compared first. An error if they
  /// cannot be read or are not right.
  virtual Task<Result<std::optional<std::span<const std::byte>>>> ready(std::uint64_t offset,
                                                                        std::uint64_t length) = 0;
  /// A piece was sent: the blob is in use.
  virtual void used() = 0;

  std::uint64_t pieces() const {
    return size_bytes() / piece_length() + (size_bytes() % piece_length() != 0 ? 1 : 0);
  }
  /// Of the piece; 0 if there is no such piece.
  std::uint64_t length_of(std::int64_t index) const {
    if (index < 0 || static_cast<std::uint64_t>(index) >= pieces()) return 0;
    const auto offset = static_cast<std::uint64_t>(index) * piece_length();
    return std::min(piece_length(), size_bytes() - offset);
  }
};

/// Where seeds come from; outlives them.
class SeedSource {
 public:
  virtual ~SeedSource() = default;

  /// `not_found` if the blob is not here. `name_space` is the peer's word.
  virtual Task<Result<std::unique_ptr<Seed>>> open(Digest digest, std::string_view name_space) = 0;
};

}  // namespace orlop
