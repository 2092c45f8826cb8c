#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orlop {

/// A block of IP addresses: "10.0.0.0/8", "fd00::/8", or one address.
///
/// A value; pass it by value. IPv4 is held as IPv4-mapped IPv6 (RFC 4291, section 2.5.5.2), so a
/// v4 client matches alike whether it came over a v4 or a dual-stack v6 socket.
class Cidr {
 public:
  /// Reads the notation of RFC 4632 (section 3.1) and RFC 4291 (section 2.3); without "/" the text
  /// is one address. Fails with `invalid_argument` on anything else, and if an address bit beyond
  /// the prefix is set: "10.1.2.3/8" allows far more than its author may have meant.
  static Result<Cidr> parse(std::string_view text);

  /// Whether an address of 4 or 16 bytes in network order is inside. False for any other length.
  bool contains(std::span<const std::uint8_t> address) const noexcept;

  /// The block as parse() reads it, always with its prefix: "127.0.0.1/32".
  std::string to_string() const;

  friend bool operator==(const Cidr&, const Cidr&) = default;

 private:
  using Bytes = std::array<std::uint8_t, 16>;

  Cidr(const Bytes& network, unsigned prefix_bits) : network_(network), prefix_bits_(prefix_bits) {}

  Bytes network_;
  unsigned prefix_bits_;  // Of 128, also for IPv4.
};

/// Whether `text` is an IPv4 or IPv6 address, without brackets, prefix, port or zone.
bool is_ip_address(std::string_view text);

}  // namespace orlop
