#include "base/json_writer.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/hex.h"

namespace orlop {
namespace {

std::string bytes_of(const std::string& hex) {
  std::string bytes(hex.size() / 2, '\0');
  REQUIRE(from_hex(hex, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}));
  return bytes;
}

TEST_CASE("json writer: strings are byte for byte Go's", "[golden]") {
  std::ifstream file(ORLOP_GOLDEN_DIR "/json_strings.json");
  const auto cases = nlohmann::json::parse(file).at("cases");
  REQUIRE(cases.size() > 100);
  for (const auto& one : cases) {
    const auto input = bytes_of(one.at("in_hex"));
    std::string output;
    append_json_string(output, input);
    CHECK(output == bytes_of(one.at("out_hex")));
  }
}

TEST_CASE("json writer: the html form escapes what a browser would read as a tag") {
  std::string output;
  append_json_string(output, "<a&b>", JsonEscape::html);
  CHECK(output == "\"\\u003ca\\u0026b\\u003e\"");
}

TEST_CASE("json writer: numbers reach both ends of their types") {
  std::string output;
  append_json_number(output, std::int64_t{INT64_MIN});
  output += ' ';
  append_json_number(output, std::uint64_t{UINT64_MAX});
  CHECK(output == "-9223372036854775808 18446744073709551615");
}

}  // namespace
}  // namespace orlop
