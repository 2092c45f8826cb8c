#include "core/byte_range.h"

#include <catch2/catch.hpp>
#include <limits>
#include <string>

namespace orlop {
namespace {

constexpr auto kUint64Max = std::numeric_limits<std::uint64_t>::max();

/// "0-9,990-999"; "ignored" for a header that is to be ignored, "none" if nothing is satisfiable.
std::string resolved(std::string_view header, std::uint64_t size_bytes) {
  const auto ranges = parse_ranges(header, size_bytes);
  if (!ranges) return "ignored";
  if (ranges->empty()) return "none";
  std::string text;
  for (const auto& range : *ranges) {
    if (!text.empty()) text += ',';
    text += std::to_string(range.first) + "-" + std::to_string(range.last);
  }
  return text;
}

TEST_CASE("range: each form resolves against a blob of 1000 bytes") {
  // The single forms are those of case C20 (cases.md).
  const auto [header, want] = GENERATE(table<std::string, std::string>({
      {"bytes=0-0", "0-0"},
      {"bytes=0-999", "0-999"},
      {"bytes=0-", "0-999"},
      {"bytes=999-", "999-999"},
      {"bytes=-1", "999-999"},
      {"bytes=-1000", "0-999"},
      {"bytes=-5000", "0-999"},
      {"bytes=0-5000", "0-999"},
      {"bytes=1000-", "none"},
      {"bytes=1000-2000", "none"},
      {"bytes=-0", "none"},
      {"BYTES=5-6", "5-6"},
      {" bytes=5-6\t", "5-6"},
      {"bytes=007-008", "7-8"},
      {"bytes=0-18446744073709551616", "0-999"},
      {"bytes=0-99999999999999999999999999", "0-999"},
      {"bytes=18446744073709551616-", "none"},
      {"bytes=18446744073709551615-18446744073709551616", "none"},
      {"bytes=-18446744073709551616", "0-999"},
      {"bytes=0-1,4-5", "0-1,4-5"},
      {"bytes=500-600,0-1,500-600", "500-600,0-1,500-600"},
      {"bytes=0-1 ,\t4-5 , -1", "0-1,4-5,999-999"},
      {"bytes=,,0-1,,4-5,", "0-1,4-5"},
      {"bytes=2000-,0-1", "0-1"},
      {"bytes=2000-,-0", "none"},
  }));
  INFO(header);
  CHECK(resolved(header, 1000) == want);
}

TEST_CASE("range: what is malformed or of another unit is ignored") {
  const std::string header =
      GENERATE("", "bytes", "bytes=", "bytes= ", "bytes=,", "bytes", "=0-1", "items=0-1",
               "bytes 0-1", "bytes =0-1", "byte=0-1", "bytess=0-1", "bytes=a-b", "bytes=-",
               "bytes=5", "bytes=5-3", "bytes=0-1,5-3", "bytes=0-1,x", "bytes=0-1-2", "bytes=--1",
               "bytes=+0-1", "bytes=0-+1", "bytes=0x0-1", "bytes=0 - 1", "bytes=0-1;2-3",
               "bytes=0-1 2-3", "bytes=bytes=0-1", "bytes=1.0-2", "bytes=\xd9\xa1-2");
  INFO(header);
  CHECK(resolved(header, 1000) == "ignored");
  CHECK(resolved(header, 0) == "ignored");
}

TEST_CASE("range: an empty blob satisfies none") {
  const std::string header = GENERATE("bytes=0-0", "bytes=0-", "bytes=-1", "bytes=-0", "bytes=5-");
  CHECK(resolved(header, 0) == "none");
}

TEST_CASE("range: works up to the largest size") {
  CHECK(resolved("bytes=0-", kUint64Max) == "0-18446744073709551614");
  CHECK(resolved("bytes=-1", kUint64Max) == "18446744073709551614-18446744073709551614");
  CHECK(resolved("bytes=18446744073709551615-", kUint64Max) == "none");
  CHECK(parse_ranges("bytes=0-", kUint64Max)->at(0).length() == kUint64Max);
}

TEST_CASE("range: one more than the limit is ignored, satisfiable or not") {
  std::string header = "bytes=";
  for (std::size_t i = 0; i < kRangeSpecsMax; ++i) header += i % 2 == 0 ? "0-1," : "2000-,";
  CHECK(parse_ranges(header, 1000)->size() == kRangeSpecsMax / 2);
  CHECK_FALSE(parse_ranges(header + "2000-", 1000));
}

}  // namespace
}  // namespace orlop
