#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"
#include "base/result.h"

namespace orlop {

/// The name of a peer in the piece exchange (Kraken's core/peer_id.go).
///
/// A value: 20 bytes, trivially copyable, ordered byte by byte; pass it by value.
class PeerId {
 public:
  static constexpr std::size_t kBytes = 20;

  /// Reads 40 lower-case hex digits, the text form. `invalid_argument` on anything else.
  static Result<PeerId> parse(std::string_view hex);

  /// `peer_id_factory: addr_hash`: the SHA-1 of "<ip>:<port>", where `ip` is spelled as it is
  /// announced (an IPv6 address has no brackets).
  static PeerId from_address(std::string_view ip, std::uint16_t port);

  /// `peer_id_factory: random`.
  static PeerId random(Random& random);

  explicit constexpr PeerId(const std::array<std::uint8_t, kBytes>& bytes) : bytes_(bytes) {}

  const std::array<std::uint8_t, kBytes>& bytes() const noexcept { return bytes_; }
  std::string hex() const;

  friend bool operator==(const PeerId&, const PeerId&) = default;
  friend auto operator<=>(const PeerId&, const PeerId&) = default;

 private:
  std::array<std::uint8_t, kBytes> bytes_;
};

}  // namespace orlop
