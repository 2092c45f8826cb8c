#include "peer/bitfield.h"

namespace orlop {
namespace {

constexpr std::size_t kWordBytes = 8;
constexpr std::uint64_t kWordBits = 64;

void append_big_endian(std::string& text, std::uint64_t value) {
  for (int shift = 56; shift >= 0; shift -= 8) text += static_cast<char>(value >> shift);
}

}  // namespace

std::string full_bitfield(std::uint64_t pieces) {
  std::string bytes;
  append_big_endian(bytes, pieces);
  for (; pieces >= kWordBits; pieces -= kWordBits) append_big_endian(bytes, ~std::uint64_t{0});
  if (pieces > 0) append_big_endian(bytes, (std::uint64_t{1} << pieces) - 1);
  return bytes;
}

bool is_bitfield(std::string_view bytes) {
  if (bytes.size() < kWordBytes) return false;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < kWordBytes; ++i) {
    bits = bits << 8 | static_cast<unsigned char>(bytes[i]);
  }
  const auto words = bits / kWordBits + (bits % kWordBits != 0 ? 1 : 0);
  return words <= (bytes.size() - kWordBytes) / kWordBytes;
}

}  // namespace orlop
