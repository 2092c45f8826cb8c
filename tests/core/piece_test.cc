#include "core/piece.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/core/golden.h"

namespace orlop {
namespace {

constexpr auto kUint64Max = std::numeric_limits<std::uint64_t>::max();

TEST_CASE("piece: lengths and counts are the original's", "[golden]") {
  const auto vectors = golden("metainfo.json");
  REQUIRE(vectors.at("cases").size() > 100);
  for (const auto& one : vectors.at("cases")) {
    const auto size = one.at("size").get<std::uint64_t>();
    const auto length = one.at("piece_length").get<std::uint64_t>();
    const auto count = one.at("pieces").get<std::uint64_t>();
    INFO(size << " bytes in pieces of " << length);
    CHECK(piece_count(size, length) == count);
    CHECK(piece_bytes(size, length, count) == 0);
    const auto lengths = one.value("piece_lengths", nlohmann::json());
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      CHECK(piece_bytes(size, length, i) == lengths[i]);
    }
  }
}

TEST_CASE("piece: counts do not wrap at the end of the type") {
  CHECK(piece_count(kUint64Max, 1) == kUint64Max);
  CHECK(piece_count(kUint64Max, kUint64Max) == 1);
  CHECK(piece_count(kUint64Max, kUint64Max - 1) == 2);
  CHECK(piece_bytes(kUint64Max, kUint64Max - 1, 1) == 1);
  CHECK(piece_bytes(kUint64Max, 4, kUint64Max) == 0);
}

TEST_CASE("piece lengths: the last entry not above the size decides") {
  const auto lengths = *PieceLengths::make({{0, 4}, {100, 8}, {1000, 2}});
  CHECK(lengths.for_size(0) == 4);
  CHECK(lengths.for_size(99) == 4);
  CHECK(lengths.for_size(100) == 8);
  CHECK(lengths.for_size(999) == 8);
  CHECK(lengths.for_size(1000) == 2);
  CHECK(lengths.for_size(kUint64Max) == 2);
}

TEST_CASE("piece lengths: a blob below the smallest entry gets its length all the same") {
  const auto lengths = *PieceLengths::make({{100, 8}, {1000, 2}});
  CHECK(lengths.for_size(0) == 8);
  CHECK(lengths.for_size(99) == 8);
}

TEST_CASE("piece lengths: the grain divides all lengths, and equal ones count once") {
  const auto lengths = *PieceLengths::make({{0, 24}, {10, 36}, {20, 24}, {30, 60}});
  CHECK(lengths.distinct() == std::vector<std::uint64_t>{24, 36, 60});
  CHECK(lengths.grain() == 12);
  CHECK(PieceLengths::make({{5, 7}})->grain() == 7);
}

TEST_CASE("piece lengths: refuses a table that cannot work") {
  std::map<std::uint64_t, std::uint64_t> many;
  for (std::uint64_t i = 0; i < PieceLengths::kEntriesMax; ++i) many[i] = 1;
  CHECK(PieceLengths::make(many));
  many[PieceLengths::kEntriesMax] = 1;
  CHECK(PieceLengths::make(many).error().detail() == "more than 64 piece lengths");

  CHECK(PieceLengths::make({}).error().detail() == "no piece lengths configured");
  CHECK(PieceLengths::make({{0, 4}, {5, 0}}).error().detail() == "piece length must be positive");
  CHECK(PieceLengths::make({{0, PieceLengths::kPieceLengthMax}}));
  CHECK(PieceLengths::make({{0, PieceLengths::kPieceLengthMax + 1}}).error().code() ==
        Errc::invalid_argument);
}

}  // namespace
}  // namespace orlop
