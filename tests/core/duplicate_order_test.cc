#include "core/duplicate_order.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

namespace orlop {
namespace {

TEST_CASE("duplicate order: reads the delay as the original does, and refuses what it refuses") {
  struct Case {
    std::string json;
    std::optional<std::int64_t> nanoseconds;
  };
  const auto one = GENERATE(values<Case>({
      {R"({"Delay":0})", 0},
      {R"({"Delay":180000000000})", 180'000'000'000},
      {R"({"delay":5})", 5},
      {R"({"DELAY":5})", 5},
      {R"({"Other":[1,{"Delay":9}],"Delay":5})", 5},
      {R"({"Delay":5,"Delay":6})", 6},
      {R"({"Delay":5,"Delay":null})", 5},
      {R"({"Delay":null})", 0},
      {R"({"Delays":5})", 0},
      {"{}", 0},
      {"null", 0},
      {" \n{ \"Delay\" : 5 }\n", 5},
      {R"({"Delay":9223372036854775807})", std::numeric_limits<std::int64_t>::max()},
      {R"({"Delay":-1})", 0},
      {R"({"Delay":-9223372036854775808})", 0},
      {R"({"Delay":9223372036854775808})", std::nullopt},
      {R"({"Delay":18446744073709551616})", std::nullopt},
      {R"({"Delay":1.5})", std::nullopt},
      {R"({"Delay":1e3})", std::nullopt},
      {R"({"Delay":"5"})", std::nullopt},
      {R"({"Delay":true})", std::nullopt},
      {R"({"Delay":{}})", std::nullopt},
      {R"({"Delay":5)", std::nullopt},
      {R"({Delay:5})", std::nullopt},
      {"", std::nullopt},
      {" ", std::nullopt},
      {"[]", std::nullopt},
      {"5", std::nullopt},
      {R"("Delay")", std::nullopt},
      {"true", std::nullopt},
  }));
  INFO(one.json);

  const auto delay = parse_duplicate_order(one.json);

  if (one.nanoseconds) {
    REQUIRE(delay);
    CHECK(delay->count() == *one.nanoseconds);
  } else {
    REQUIRE_FALSE(delay);
    CHECK(delay.error().code() == Errc::invalid_argument);
    CHECK(delay.error().detail().starts_with("decode body: "));
  }
}

}  // namespace
}  // namespace orlop
