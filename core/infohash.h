#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orlop {

/// The name of a MetaInfo among peers: the SHA-1 of its bencoded info dictionary
/// (core/bencode.h). It is not a digest of the blob: with another piece length the same blob has
/// another infohash.
///
/// A value: 20 bytes, trivially copyable, ordered; pass it by value.
class InfoHash {
 public:
  static constexpr std::size_t kBytes = 20;

  /// Reads 40 lower-case hex digits, the one text form. `invalid_argument` on anything else.
  static Result<InfoHash> parse(std::string_view hex);

  explicit constexpr InfoHash(const std::array<std::uint8_t, kBytes>& bytes) : bytes_(bytes) {}

  const std::array<std::uint8_t, kBytes>& bytes() const noexcept { return bytes_; }
  std::string hex() const;

  friend bool operator==(const InfoHash&, const InfoHash&) = default;
  friend auto operator<=>(const InfoHash&, const InfoHash&) = default;

 private:
  std::array<std::uint8_t, kBytes> bytes_;
};

}  // namespace orlop
