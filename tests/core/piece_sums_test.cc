#include "core/piece_sums.h"

#include <catch2/catch.hpp>

#include "base/random.h"
#include "core/crc32.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

using Lengths = std::map<std::uint64_t, std::uint64_t>;
using Sums = std::vector<std::uint32_t>;

Sums naive_sums(std::string_view bytes, std::uint64_t piece_length) {
  Sums sums;
  for (std::size_t at = 0; at < bytes.size(); at += piece_length) {
    sums.push_back(crc32(0, as_byte_span(bytes.substr(at, piece_length))));
  }
  return sums;
}

std::string random_bytes(Random& random, std::size_t size) {
  std::string bytes(size, '\0');
  random.fill({reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
  return bytes;
}

/// Feeds, marks and rewinds at random, and compares with sums over what should be left.
void check_against_naive(const Lengths& table, std::size_t step_bytes_max, std::uint64_t seed) {
  INFO("seed " << seed);
  Random random(seed);
  const auto lengths = *PieceLengths::make(table);
  PieceSummer summer(lengths);
  std::string model;
  std::vector<PieceSummer::Mark> marks = {summer.mark()};

  for (int step = 0; step < 60; ++step) {
    const auto choice = random.next() % 10;
    if (choice < 6) {
      const auto bytes = random_bytes(random, random.next() % step_bytes_max);
      summer.update(as_byte_span(bytes));
      model += bytes;
    } else if (choice < 8) {
      marks.push_back(summer.mark());
    } else {
      marks.resize(1 + random.next() % marks.size());  // Those behind a rewind are void.
      summer.rewind(marks.back());
      model.resize(marks.back().bytes);
    }
    REQUIRE(summer.bytes() == model.size());
    if (step % 5 != 4) continue;
    for (const auto length : lengths.distinct()) {
      if (summer.sums(length) != naive_sums(model, length)) {
        FAIL("pieces of " << length << " after step " << step);
      }
    }
  }
}

TEST_CASE("piece sums: marks and rewinds leave the sums of what is left") {
  const auto seed = GENERATE(range<std::uint64_t>(0, 8));
  check_against_naive({{0, 64}}, 300, seed);
  check_against_naive({{0, 1}, {10, 7}, {20, 64}, {30, 1000}}, 500, seed);
  check_against_naive({{0, 4096}, {1000, 16384}}, 20'000, seed);
}

TEST_CASE("piece sums: a coarse grain is joined to each length") {
  const auto seed = GENERATE(range<std::uint64_t>(100, 103));
  const std::uint64_t grain = PieceSummer::kGrainBytesMin;
  check_against_naive({{0, grain}}, 300'000, seed);
  // Five lengths: only the grain makes this possible.
  check_against_naive(
      {{0, 2 * grain}, {1, 3 * grain}, {2, 4 * grain}, {3, 5 * grain}, {4, 7 * grain}}, 300'000,
      seed);
}

TEST_CASE("piece sums: no bytes are no pieces, and a full piece has no empty one behind it") {
  PieceSummer summer(*PieceLengths::make({{0, 4}}));
  CHECK(summer.sums(4) == Sums{});

  summer.update(as_byte_span("12345678"));

  CHECK(summer.sums(4) == Sums{2615402659, 2119325191});  // From kraken, core.
}

TEST_CASE("piece sums: a rewind to a piece's border forgets the piece that followed") {
  PieceSummer summer(*PieceLengths::make({{0, 4}}));
  summer.update(as_byte_span("1234"));
  const auto mark = summer.mark();
  summer.update(as_byte_span("wrong bytes"));

  summer.rewind(mark);
  CHECK(summer.sums(4) == naive_sums("1234", 4));
  summer.update(as_byte_span("5678"));
  CHECK(summer.sums(4) == naive_sums("12345678", 4));
}

TEST_CASE("piece sums: says so when it did not keep what it would need") {
  const auto bytes = pattern(1000);
  PieceSummer four(*PieceLengths::make({{0, 2}, {1, 3}, {2, 5}, {3, 7}}));
  PieceSummer five(*PieceLengths::make({{0, 2}, {1, 3}, {2, 5}, {3, 7}, {4, 11}}));
  four.update(as_byte_span(bytes));
  five.update(as_byte_span(bytes));

  CHECK(four.sums(7) == naive_sums(bytes, 7));
  CHECK(four.sums(4) == naive_sums(bytes, 4));  // Not configured, but two pieces of 2.
  CHECK(four.sums(11) == std::nullopt);
  for (const auto length : {2, 3, 5, 7, 11}) {
    CHECK(five.sums(static_cast<std::uint64_t>(length)) == std::nullopt);
  }
  CHECK(five.bytes() == bytes.size());
  five.rewind(PieceSummer::Mark{});
  CHECK(five.bytes() == 0);
}

TEST_CASE("piece sums: the grain decides at 256 KiB, not one byte below") {
  const auto grain = PieceSummer::kGrainBytesMin;
  const auto bytes = pattern(3 * grain);
  const auto five_lengths = [](std::uint64_t unit) {
    return *PieceLengths::make(
        {{0, unit}, {1, 2 * unit}, {2, 3 * unit}, {3, 4 * unit}, {4, 5 * unit}});
  };
  PieceSummer at(five_lengths(grain));
  PieceSummer below(five_lengths(grain - 1));
  at.update(as_byte_span(bytes));
  below.update(as_byte_span(bytes));

  CHECK(at.sums(2 * grain) == naive_sums(bytes, 2 * grain));
  CHECK(below.sums(2 * (grain - 1)) == std::nullopt);
}

TEST_CASE("piece sums: a list longer than any metainfo is given up, for good") {
  const std::string bytes(std::size_t{1} << 16, 'x');
  PieceSummer summer(*PieceLengths::make({{0, 1}, {100, 1000}}));
  const auto start = summer.mark();
  for (std::uint64_t fed = 0; fed < kPieceCountMax; fed += bytes.size()) {
    summer.update(as_byte_span(bytes));
  }
  CHECK(summer.sums(1).has_value());

  summer.update(as_byte_span("x"));
  CHECK(summer.sums(1) == std::nullopt);
  CHECK(summer.sums(1000)->size() == piece_count(kPieceCountMax + 1, 1000));

  summer.rewind(start);
  summer.update(as_byte_span("x"));
  CHECK(summer.sums(1) == std::nullopt);
  CHECK(summer.sums(1000) == naive_sums("x", 1000));
}

}  // namespace
}  // namespace orlop
