#include "cluster/murmur3.h"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace orlop {
namespace {

constexpr std::uint64_t kFirst = 0x87c37b91114253d5;
constexpr std::uint64_t kSecond = 0x4cf5ad432745937f;

/// Up to eight bytes, the first one lowest.
std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = std::min<std::size_t>(bytes.size(), 8); i > 0; --i) {
    value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  }
  return value;
}

std::uint64_t mixed_first(std::uint64_t k) { return std::rotl(k * kFirst, 31) * kSecond; }
std::uint64_t mixed_second(std::uint64_t k) { return std::rotl(k * kSecond, 33) * kFirst; }

/// Every bit of the input changes about half of the result's.
std::uint64_t avalanche(std::uint64_t k) {
  k = (k ^ k >> 33) * 0xff51afd7ed558ccd;
  k = (k ^ k >> 33) * 0xc4ceb9fe1a85ec53;
  return k ^ k >> 33;
}

}  // namespace

std::uint64_t murmur3_h1(std::string_view bytes) {
  const std::uint64_t length = bytes.size();
  std::uint64_t h1 = 0;
  std::uint64_t h2 = 0;
  for (; bytes.size() >= 16; bytes.remove_prefix(16)) {
    h1 ^= mixed_first(little_endian(bytes));
    h1 = (std::rotl(h1, 27) + h2) * 5 + 0x52dce729;
    h2 ^= mixed_second(little_endian(bytes.substr(8)));
    h2 = (std::rotl(h2, 31) + h1) * 5 + 0x38495ab5;
  }
  // The tail. What is absent is zero, and a zero mixes to zero.
  h1 ^= mixed_first(little_endian(bytes));
  if (bytes.size() > 8) h2 ^= mixed_second(little_endian(bytes.substr(8)));

  h1 ^= length;
  h2 ^= length;
  h1 += h2;
  h2 += h1;
  return avalanche(h1) + avalanche(h2);
}

}  // namespace orlop
