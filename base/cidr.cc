#include "base/cidr.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace orlop {
namespace {

constexpr std::array<std::uint8_t, 12> kMappedPrefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr unsigned kMappedBits = 96;
constexpr unsigned kAddressBits = 128;

struct Address {
  std::array<std::uint8_t, 16> bytes{};
  bool v4 = false;
};

std::optional<Address> parse_address(std::string_view text) {
  const std::string terminated(text);  // inet_pton wants a C string, so a NUL inside is refused.
  if (terminated.size() > INET6_ADDRSTRLEN) return std::nullopt;
  if (terminated.find('\0') != std::string::npos) return std::nullopt;

  Address address;
  if (inet_pton(AF_INET, terminated.c_str(), address.bytes.data() + kMappedPrefix.size()) == 1) {
    std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), address.bytes.begin());
    address.v4 = true;
    return address;
  }
  if (inet_pton(AF_INET6, terminated.c_str(), address.bytes.data()) == 1) return address;
  return std::nullopt;
}

/// Whether the first `bits` bits of both are equal.
bool same_prefix(std::span<const std::uint8_t, 16> a, std::span<const std::uint8_t, 16> b,
                 unsigned bits) {
  const std::size_t whole = bits / 8;
  if (!std::equal(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(whole), b.begin())) {
    return false;
  }
  const unsigned rest = bits % 8;
  if (rest == 0) return true;
  return ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

std::array<std::uint8_t, 16> masked(std::array<std::uint8_t, 16> bytes, unsigned bits) {
  for (unsigned bit = bits; bit < kAddressBits; ++bit) {
    bytes[bit / 8] = static_cast<std::uint8_t>(bytes[bit / 8] & ~(0x80U >> (bit % 8)));
  }
  return bytes;
}

}  // namespace

Result<Cidr> Cidr::parse(std::string_view text) {
  const auto slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) {
    return Error(Errc::invalid_argument,
                 "\"" + std::string(text) + "\" is not an IP address block");
  }
  if (slash == std::string_view::npos) return Cidr(address->bytes, kAddressBits);

  const auto digits = text.substr(slash + 1);
  const unsigned limit = address->v4 ? 32 : kAddressBits;
  unsigned bits = 0;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  const bool read_all = end == digits.data() + digits.size();
  if (failed != std::errc() || !read_all || bits > limit || digits.size() > 3) {
    return Error(
        Errc::invalid_argument,
        "\"" + std::string(text) + "\" has no prefix length of 0 to " + std::to_string(limit));
  }
  if (address->v4) bits += kMappedBits;

  const Cidr block(masked(address->bytes, bits), bits);
  if (block.network_ != address->bytes) {
    return Error(Errc::invalid_argument,
                 "\"" + std::string(text) + "\" has address bits beyond its prefix; the block is " +
                     block.to_string());
  }
  return block;
}

bool Cidr::contains(std::span<const std::uint8_t> address) const noexcept {
  Bytes whole{};
  if (address.size() == 4) {
    std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), whole.begin());
    std::copy(address.begin(), address.end(), whole.begin() + kMappedPrefix.size());
  } else if (address.size() == whole.size()) {
    std::copy(address.begin(), address.end(), whole.begin());
  } else {
    return false;
  }
  // "::/0" means all of IPv6. It must not let in IPv4 too: its author said nothing of that.
  const bool mapped =
      same_prefix(whole, Bytes{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, kMappedBits);
  if (mapped && prefix_bits_ < kMappedBits) return false;
  return same_prefix(whole, network_, prefix_bits_);
}

std::string Cidr::to_string() const {
  const bool v4 = prefix_bits_ >= kMappedBits &&
                  std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), network_.begin());
  std::array<char, INET6_ADDRSTRLEN> text{};
  const auto* bytes = network_.data() + (v4 ? kMappedPrefix.size() : 0);
  inet_ntop(v4 ? AF_INET : AF_INET6, bytes, text.data(), text.size());
  return std::string(text.data()) + "/" +
         std::to_string(v4 ? prefix_bits_ - kMappedBits : prefix_bits_);
}

bool is_ip_address(std::string_view text) { return parse_address(text).has_value(); }

}  // namespace orlop
