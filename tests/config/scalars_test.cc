#include "config/scalars.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

#include "config/duration.h"
#include "config/size.h"

namespace {

using namespace orlop;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

Node plain(const std::string& text) {
  Node node;
  node.kind = Node::Kind::scalar;
  node.text = text;
  return node;
}

Node quoted(const std::string& text) {
  auto node = plain(text);
  node.quoted = true;
  return node;
}

TEST_CASE("duration: texts of Go's ParseDuration give its nanoseconds", "[golden]") {
  // Go, src/time/time_test.go, parseDurationTests, and kraken-formats-and-store 6.3.
  const auto [text, want] = GENERATE(table<std::string, nanoseconds>({
      {"0", 0ns},
      {"+0", 0ns},
      {"-0", 0ns},
      {"5s", 5s},
      {"30s", 30s},
      {"1478s", 1478s},
      {"-5s", -5s},
      {"+5s", 5s},
      {"5.0s", 5s},
      {"5.6s", 5600ms},
      {"5.s", 5s},
      {".5s", 500ms},
      {"1.004s", 1004ms},
      {"100.00100s", 100001ms},
      {"10ns", 10ns},
      {"11us", 11us},
      {"12\u00b5s", 12us},
      {"12\u03bcs", 12us},
      {"13ms", 13ms},
      {"15m", 15min},
      {"16h", 16h},
      {"3h30m", 3h + 30min},
      {"10.5s4m", 4min + 10500ms},
      {"-2m3.4s", -(2min + 3400ms)},
      {"1h2m3s4ms5us6ns", 1h + 2min + 3s + 4ms + 5us + 6ns},
      {"1h0.5m3us", 1h + 30s + 3us},
      {"52763797000ns", 52763797000ns},
      {"0.3333333333333333333h", 20min},
      {"9007199254740993ns", 9007199254740993ns},
      {"9223372036854775807ns", nanoseconds::max()},
      {"0.100000000000000000000h", 6min},
      {"0.830103483285477580700h", 49min + 48s + 372539827ns},
  }));
  INFO(text);
  CHECK(parse_duration(text) == want);
}

TEST_CASE("duration: what Go refuses is refused") {
  const std::string text = GENERATE("", "3", "-", "s", ".", "-.", ".s", "+.s", "1d", "1 h", " 1h",
                                    "1h ", "--1s", "1h-1m", "9223372036854775808ns", "3000000h",
                                    "9223372036854775.808us", "1S", "1e3s", "1_0s");
  INFO(text);
  CHECK_FALSE(parse_duration(text));
}

TEST_CASE("duration: a bare integer in a file is nanoseconds, and in quotes it is nothing") {
  CHECK(as_duration(plain("5")) == 5ns);
  CHECK(as_duration(plain("1e3")) == 1000ns);
  CHECK(as_duration(plain("2.9")) == 2ns);
  CHECK(as_duration(plain("5m")) == 5min);
  CHECK(as_duration(quoted("5m")) == 5min);
  CHECK_FALSE(as_duration(quoted("5")));
  CHECK_FALSE(as_duration(plain("soon")));
}

TEST_CASE("size: units are powers of 1024, in any case but the bits") {
  const auto [text, want] = GENERATE(table<std::string, std::uint64_t>({
      {"0", 0},
      {"17", 17},
      {"17b", 17},
      {"17 B", 17},
      {"17Byte", 17},
      {"1k", 1024},
      {"1kb", 1024},
      {"1KB", 1024},
      {"1kB", 1024},
      {"1kilo", 1024},
      {"1KiloByte", 1024},
      {"3 kilobytes", 3072},
      {"4MB", 4194304},
      {"4\tmega", 4194304},
      {"4MegaBytes", 4194304},
      {"2GB", std::uint64_t{2} << 30},
      {"2giga", std::uint64_t{2} << 30},
      {"1tb", std::uint64_t{1} << 40},
      {"1terabyte", std::uint64_t{1} << 40},
      {"1P", std::uint64_t{1} << 50},
      {"1petabytes", std::uint64_t{1} << 50},
      {"15EB", std::uint64_t{15} << 60},
      {"15e", std::uint64_t{15} << 60},
      {"18446744073709551615", std::numeric_limits<std::uint64_t>::max()},
      {"007", 7},
      {"4MB ", 4194304},
  }));
  INFO(text);
  CHECK(parse_size(text) == want);
}

TEST_CASE("size: fractions, bits, unknown units and overflow are refused") {
  const std::string text = GENERATE("", " 1", "-1", "+1", "1.5MB", "1_000", "1mib", "1MiB",
                                    "1bytes", "1exa", "1Kb", "1Mb", "1Gb", "1Tb", "1Pb", "1Eb",
                                    "MB", "16EB", "18446744073709551616", "0x10", "1 k b");
  INFO(text);
  CHECK_FALSE(parse_size(text));
}

TEST_CASE("boolean: the YAML 1.1 words and nothing else") {
  const std::string yes =
      GENERATE("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "ON");
  const std::string no = GENERATE("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off");
  CHECK(as_boolean(plain(yes)) == true);
  CHECK(as_boolean(plain(no)) == false);
}

TEST_CASE("boolean: numbers, odd capitals and quoted words are refused") {
  CHECK_FALSE(as_boolean(plain("1")));
  CHECK_FALSE(as_boolean(plain("tRUE")));
  CHECK_FALSE(as_boolean(plain("")));
  CHECK_FALSE(as_boolean(quoted("true")));
}

TEST_CASE("integer: the notations of yaml.v2 are read as it reads them") {
  const auto [text, want] = GENERATE(table<std::string, std::int64_t>({
      {"0", 0},
      {"-7", -7},
      {"+7", 7},
      {"010", 8},
      {"08", 8},
      {"0x10", 16},
      {"-0x10", -16},
      {"0b101", 5},
      {"0o17", 15},
      {"1_000", 1000},
      {"1e3", 1000},
      {"2.9", 2},
      {"-2.9", -2},
      {".5", 0},
      {"9223372036854775807", std::numeric_limits<std::int64_t>::max()},
      {"-9223372036854775808", std::numeric_limits<std::int64_t>::min()},
  }));
  INFO(text);
  CHECK(as_integer(plain(text)) == want);
}

TEST_CASE("integer: words, quoted digits and what does not fit are refused") {
  const std::string text = GENERATE("", "-", "--1", "0x", "0xg", "1MB", "inf", ".inf", "nan", ".",
                                    "9223372036854775808", "1e19", "_1", "0x-1");
  INFO(text);
  CHECK_FALSE(as_integer(plain(text)));
  CHECK_FALSE(as_integer(quoted("5")));
}

TEST_CASE("number: a fraction is kept") {
  CHECK(as_number(plain("0.05")) == 0.05);
  CHECK(as_number(plain("2")) == 2.0);
  CHECK_FALSE(as_number(plain("two")));
}

}  // namespace
