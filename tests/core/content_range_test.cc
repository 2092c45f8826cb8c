#include "core/content_range.h"

#include <catch2/catch.hpp>
#include <limits>
#include <set>

#include "core/quote.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

/// What the original answers with 200, having written nothing.
const std::set<std::string> kRefusedHere = {"10-5"};

TEST_CASE("content range: accepts and refuses what the original does, in its words", "[golden]") {
  std::size_t compared = 0;
  std::size_t refused_here = 0;
  const auto exchanges = golden("http.json");
  for (const auto& scenario : exchanges.at("scenarios")) {
    if (scenario.at("scenario") != "Content-Range forms") continue;
    for (const auto& step : scenario.at("steps")) {
      if (step.at("request").at("method") != "PATCH") continue;
      const auto headers = step.at("request").value("headers", nlohmann::json::object());
      std::optional<std::string> value;
      if (headers.contains("Content-Range")) value = headers.at("Content-Range");
      INFO(value.value_or("(absent)"));

      const auto range = parse_content_range(value);

      ++compared;
      if (value && kRefusedHere.contains(*value)) {
        ++refused_here;
        REQUIRE_FALSE(range);
        CHECK(range.error().code() == Errc::invalid_argument);
      } else if (step.at("response").at("status") == 200) {
        CHECK(range);
      } else {
        REQUIRE_FALSE(range);
        CHECK(range.error().code() == Errc::invalid_argument);
        CHECK(range.error().detail() == step.at("response").at("body"));
      }
    }
  }
  CHECK(compared >= 14);
  CHECK(refused_here == kRefusedHere.size());
}

TEST_CASE("content range: reads both numbers") {
  const auto [value, start, end] = GENERATE(table<std::string, std::uint64_t, std::uint64_t>({
      {"0-10", 0, 10},
      {"+0-+5", 0, 5},
      {" \t0-5 \t", 0, 5},
      {"7-7", 7, 7},
      {"007-0010", 7, 10},
      {"0-9223372036854775807", 0, 9223372036854775807},
  }));
  INFO(value);
  const auto range = parse_content_range(value);
  REQUIRE(range);
  CHECK(*range == ChunkRange{start, end});
  CHECK(range->length() == end - start);
}

TEST_CASE("content range: refuses the rest in the words of Go's strconv") {
  // From the table of kraken-origin-http.md, 2.4, and from strconv.ParseInt's source.
  const auto [value, want] = GENERATE(table<std::string, std::string>({
      {"blah", R"(cannot parse Content-Range header "blah": expected format "start-end")"},
      {"-5-10", R"(cannot parse Content-Range header "-5-10": expected format "start-end")"},
      {"-", R"(cannot parse start of range in Content-Range header "-": strconv.ParseInt: )"
            R"(parsing "": invalid syntax)"},
      {"0 - 5", R"(cannot parse start of range in Content-Range header "0 - 5": )"
                R"(strconv.ParseInt: parsing "0 ": invalid syntax)"},
      {"1_0-20", R"(cannot parse start of range in Content-Range header "1_0-20": )"
                 R"(strconv.ParseInt: parsing "1_0": invalid syntax)"},
      {"+-5", R"(cannot parse start of range in Content-Range header "+-5": )"
              R"(strconv.ParseInt: parsing "+": invalid syntax)"},
      {"++1-5", R"(cannot parse start of range in Content-Range header "++1-5": )"
                R"(strconv.ParseInt: parsing "++1": invalid syntax)"},
      {"0-5/10", R"(cannot parse end of range in Content-Range header "0-5/10": )"
                 R"(strconv.ParseInt: parsing "5/10": invalid syntax)"},
      {"0-9223372036854775808",
       R"(cannot parse end of range in Content-Range header "0-9223372036854775808": )"
       R"(strconv.ParseInt: parsing "9223372036854775808": value out of range)"},
      {"9223372036854775808x-0",
       R"(cannot parse start of range in Content-Range header "9223372036854775808x-0": )"
       R"(strconv.ParseInt: parsing "9223372036854775808x": invalid syntax)"},
      {"99999999999999999999x-0",
       R"(cannot parse start of range in Content-Range header "99999999999999999999x-0": )"
       R"(strconv.ParseInt: parsing "99999999999999999999x": value out of range)"},
      {"5-3", R"(cannot parse Content-Range header "5-3": end is before start)"},
      {"  ", "no Content-Range header"},
  }));
  const auto range = parse_content_range(value);
  REQUIRE_FALSE(range);
  CHECK(range.error().code() == Errc::invalid_argument);
  CHECK(range.error().detail() == want);
}

TEST_CASE("content range: an error repeats only the start of a long value") {
  const auto range = parse_content_range(std::string(100'000, '9') + "-1");
  REQUIRE_FALSE(range);
  CHECK(range.error().detail().size() < 2 * kQuoteBytesMax + 200);
}

}  // namespace
}  // namespace orlop
