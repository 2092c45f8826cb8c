#include "core/crc32.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#include <catch2/catch.hpp>

#include "base/random.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

/// The definition, a bit at a time, to have something that is not ISA-L.
std::uint32_t slow_crc32(std::string_view text) {
  std::uint32_t sum = 0xffffffff;
  for (const char c : text) {
    sum ^= static_cast<std::uint8_t>(c);
    for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) != 0 ? sum >> 1 ^ 0xedb88320 : sum >> 1;
  }
  return ~sum;
}

std::uint32_t crc32_of(std::string_view text) { return crc32(0, as_byte_span(text)); }

TEST_CASE("crc32: the check value and others from the original", "[golden]") {
  // The first from the CRC catalogue (CRC-32/ISO-HDLC), the others from kraken, core.
  const auto [text, want] = GENERATE(table<std::string, std::uint32_t>({
      {"123456789", 0xcbf43926},
      {"", 0},
      {"a", 3904355907},
      {"hello", 907060870},
  }));
  CHECK(crc32_of(text) == want);
}

TEST_CASE("crc32: every length and alignment up to a few vectors agrees with the definition") {
  const auto bytes = pattern(700);
  for (std::size_t start = 0; start < 17; ++start) {
    for (std::size_t length = 0; start + length <= bytes.size(); ++length) {
      const auto part = std::string_view(bytes).substr(start, length);
      if (crc32_of(part) != slow_crc32(part)) FAIL(length << " bytes from " << start);
    }
  }
}

TEST_CASE("crc32: continues from the sum of what came before") {
  const auto bytes = pattern(3000);
  for (const auto cut : std::vector<std::size_t>{0, 1, 15, 16, 255, 1024, 2999, 3000}) {
    const auto first = crc32_of(std::string_view(bytes).substr(0, cut));
    CHECK(crc32(first, as_byte_span(std::string_view(bytes).substr(cut))) == slow_crc32(bytes));
  }
}

TEST_CASE("crc32: joined sums are the sum of the joined bytes") {
  Random random(7);
  const auto bytes = pattern(100'000);
  for (int round = 0; round < 500; ++round) {
    const auto cut = static_cast<std::size_t>(random.next() % (bytes.size() + 1));
    const auto end = cut + static_cast<std::size_t>(random.next() % (bytes.size() - cut + 1));
    const auto all = std::string_view(bytes).substr(0, end);

    const auto joined =
        crc32_combine(crc32_of(all.substr(0, cut)), crc32_of(all.substr(cut)), end - cut);

    if (joined != crc32_of(all)) FAIL("cut at " << cut << " of " << end);
  }
}

TEST_CASE("crc32: joining is associative for lengths that no test could hold in memory") {
  // (a b) c = a (b c), with lengths of c up to 64 bits: the powers of x wrap where they should.
  const auto length = GENERATE(as<std::uint64_t>(), 1, 12345678901, std::uint64_t{1} << 29,
                               (std::uint64_t{1} << 32) - 1, (std::uint64_t{1} << 60) + 12345);
  const auto a = crc32_of("a");
  const auto b = crc32_of("middle");
  const std::uint32_t c = 0x12345678;
  CHECK(crc32_combine(crc32_combine(a, b, 6), c, length) ==
        crc32_combine(a, crc32_combine(b, c, length), length + 6));
}

TEST_CASE("crc32: joining with nothing changes nothing") {
  CHECK(crc32_combine(0x12345678, 0, 0) == 0x12345678);
  CHECK(crc32_combine(0, 0x12345678, 17) == 0x12345678);
}

#if defined(__x86_64__)
/// XINUSE, the vector state that the processor would have to save now (Intel SDM vol. 1, 13.6).
__attribute__((target("xsave"))) std::uint64_t vector_state_in_use() { return _xgetbv(1); }

TEST_CASE("crc32: leaves the upper halves of the vector registers clean") {
  unsigned eax = 0;
  unsigned ebx = 0;
  unsigned ecx = 0;
  unsigned edx = 0;
  const bool can_ask = __builtin_cpu_supports("avx") &&
                       __get_cpuid_count(0xd, 1, &eax, &ebx, &ecx, &edx) != 0 && (eax & 4) != 0;
  if (!can_ask) return;
  const auto bytes = pattern(1 << 16);

  const auto sum = crc32_of(bytes);
  const auto in_use = vector_state_in_use();

  CHECK((in_use & 4) == 0);  // Bit 2: the upper halves of YMM0 to YMM15.
  CHECK(sum == slow_crc32(bytes));
}
#endif

}  // namespace
}  // namespace orlop
