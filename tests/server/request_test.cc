#include "server/request.h"

#include <catch2/catch.hpp>

namespace orlop {
namespace {

using namespace std::string_literals;

constexpr auto kRefused = std::nullopt;

TEST_CASE("request: percent-escapes are decoded once, and only to UTF-8 text without NUL") {
  struct Case {
    std::string text;
    std::optional<std::string> decoded;
  };
  const auto one = GENERATE(values<Case>({
      {"", ""},
      {"plain-._~", "plain-._~"},
      {"a%2Fb", "a/b"},
      {"%2f", "/"},
      {"%41%5a", "AZ"},
      {"a+b", "a+b"},
      {"%2541", "%41"},
      {"sha256%3Aab", "sha256:ab"},
      {"%C3%A9", "é"},
      {"\xc3\xa9", "é"},
      {"%E2%82%AC", "€"},
      {"%F0%9F%98%80", "😀"},
      {"%EF%BF%BF", "\xef\xbf\xbf"},
      {"%F4%8F%BF%BF", "\xf4\x8f\xbf\xbf"},
      {"%7F%01", "\x7f\x01"},
      {"%", kRefused},
      {"%4", kRefused},
      {"a%4", kRefused},
      {"%4g", kRefused},
      {"%g4", kRefused},
      {"%%41", kRefused},
      {"% 41", kRefused},
      {"%+1", kRefused},
      {"%00", kRefused},
      {"a\0b"s, kRefused},
      {"%C3", kRefused},  // Cut off.
      {"%C3A", kRefused},
      {"%A9", kRefused},  // A continuation without a beginning.
      {"\xff", kRefused},
      {"%C0%80", kRefused},  // NUL, overlong.
      {"%C1%BF", kRefused},
      {"%E0%80%AF", kRefused},  // '/', overlong.
      {"%E0%9F%BF", kRefused},
      {"%F0%8F%BF%BF", kRefused},
      {"%ED%A0%80", kRefused},     // A surrogate.
      {"%F4%90%80%80", kRefused},  // Above U+10FFFF.
      {"%F5%80%80%80", kRefused},
      {"%E2%82", kRefused},
      {"%F0%9F%98", kRefused},
      {"%E2%82%41", kRefused},
  }));
  INFO(one.text);
  CHECK(percent_decoded(one.text) == one.decoded);
}

TEST_CASE("request: an argument is the first of its name, decoded") {
  struct Case {
    std::string query;
    std::optional<std::string> value;
  };
  const auto one = GENERATE(values<Case>({
      {"", kRefused},
      {"a", ""},
      {"a=", ""},
      {"a=1", "1"},
      {"a=1&b=2", "1"},
      {"b=2&a=1", "1"},
      {"a=1&a=2", "1"},
      {"a=1=2", "1=2"},
      {"&&a=1&", "1"},
      {"aa=1", kRefused},
      {"A=1", kRefused},
      {"b=a", kRefused},
      {"=a", kRefused},
      {"a=x%20y+z", "x y+z"},
      {"a=%26b=2", "&b=2"},
      {"a=%zz", kRefused},
      {"a=%zz&a=1", kRefused},
      {"a=%00", kRefused},
      {"a=1;b=2", "1;b=2"},
  }));
  INFO(one.query);
  Request request;
  request.query = one.query;
  CHECK(request.argument("a") == one.value);
}

TEST_CASE("request: fields are found in any case, and the first one counts") {
  Request request;
  request.fields = {{"Content-range", "1-2"}, {"X-A", "first"}, {"x-a", "second"}, {"Empty", ""}};

  CHECK(request.field("Content-Range") == "1-2");
  CHECK(request.field("X-a") == "first");
  CHECK(request.field("Empty") == "");
  CHECK_FALSE(request.field("Content"));
  CHECK(request.count("x-A") == 2);
  CHECK(request.count("Range") == 0);
}

TEST_CASE("request: only ASCII letters are alike in both cases") {
  CHECK(equal_ignoring_case("ChUnKeD", "chunked"));
  CHECK(equal_ignoring_case("", ""));
  CHECK_FALSE(equal_ignoring_case("chunked", "chunked "));
  CHECK_FALSE(equal_ignoring_case("chunke", "chunked"));
  CHECK_FALSE(equal_ignoring_case("[", "{"));
  CHECK_FALSE(equal_ignoring_case("@", "`"));
  CHECK_FALSE(equal_ignoring_case("\xc3\x89", "\xc3\xa9"));
}

}  // namespace
}  // namespace orlop
