#include "core/crc32.h"

#include <isa-l/crc.h>

#include <array>
#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace orlop {
namespace {

#if defined(__x86_64__)
__attribute__((target("avx"))) void zero_upper_halves() { _mm256_zeroupper(); }

void clean_vector_registers() {
  static const bool has_avx = __builtin_cpu_supports("avx");
  if (has_avx) zero_upper_halves();
}
#else
void clean_vector_registers() {}
#endif

// Combining is arithmetic on polynomials over GF(2) modulo the CRC's, with the coefficient of x^0
// in the highest bit (the CRC is reflected). To append n zero bytes is to multiply by x^(8n).

constexpr std::uint32_t kPolynomial = 0xedb88320;
constexpr std::uint32_t kOne = std::uint32_t{1} << 31;  // x^0
constexpr std::uint32_t kX = std::uint32_t{1} << 30;    // x^1

constexpr std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (; a != 0; a <<= 1) {
    // Masks and not branches: the bits are random, so a branch is mispredicted every other time.
    sum ^= b & (0 - (a >> 31));
    b = b >> 1 ^ (kPolynomial & (0 - (b & 1)));  // Times x.
  }
  return sum;
}

/// x^(2^k). Thirty-two are enough: the polynomial is primitive, so x^(2^32) = x again.
constexpr auto kSquares = [] {
  std::array<std::uint32_t, 32> squares{};
  auto power = kX;
  for (auto& square : squares) {
    square = power;
    power = product(power, power);
  }
  return squares;
}();
static_assert(product(kSquares[31], kSquares[31]) == kX, "the cycle closes, so k may wrap");

std::uint32_t zero_bytes(std::uint64_t count) {
  auto power = kOne;
  for (; count != 0; count &= count - 1) {
    const auto k = static_cast<unsigned>(std::countr_zero(count)) + 3;  // 8 bits a byte.
    power = product(power, kSquares[k % 32]);  // The first time at once: power is x^0.
  }
  return power;
}

}  // namespace

std::uint32_t crc32(std::uint32_t previous, std::span<const std::byte> bytes) {
  if (bytes.empty()) return previous;
  const auto* data = reinterpret_cast<const unsigned char*>(bytes.data());
  const auto sum = crc32_gzip_refl(previous, data, bytes.size());
  clean_vector_registers();
  return sum;
}

std::uint32_t crc32_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  return product(zero_bytes(second_bytes), first) ^ second;
}

}  // namespace orlop
