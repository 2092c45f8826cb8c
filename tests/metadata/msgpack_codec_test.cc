#include "metadata/msgpack_codec.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace orlop {
namespace {

using nlohmann::json;

struct Inner {
  std::uint8_t small = 0;
  std::string text;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit.template operator()<"small">(self.small);
    visit.template operator()<"text">(self.text);
  }
  friend bool operator==(const Inner&, const Inner&) = default;
};

struct Outer {
  bool flag = false;
  std::int64_t number = 0;
  double ratio = 0;
  std::optional<std::string> maybe;
  std::vector<Inner> inners;
  boost::container::flat_map<std::string, std::string> flat;
  std::map<std::string, std::int32_t> tree;

  template <class Self, class Visit>
  static void fields(Self& self, Visit&& visit) {
    visit.template operator()<"flag">(self.flag);
    visit.template operator()<"number">(self.number);
    visit.template operator()<"ratio">(self.ratio);
    visit.template operator()<"maybe">(self.maybe);
    visit.template operator()<"inners">(self.inners);
    visit.template operator()<"flat">(self.flat);
    visit.template operator()<"tree">(self.tree);
  }
  friend bool operator==(const Outer&, const Outer&) = default;
};

Outer sample() {
  return {.flag = true,
          .number = -70'000,
          .ratio = 0.1,
          .maybe = "here",
          .inners = {{255, "a"}, {0, std::string(300, 'b')}},
          .flat = {{"b", "2"}, {"a", "1"}},
          .tree = {{"y", -2}, {"x", 1}}};
}

std::string packed(const json& value) {
  const auto bytes = json::to_msgpack(value);
  return {bytes.begin(), bytes.end()};
}

TEST_CASE("msgpack codec: both forms read as the value that was written") {
  const auto value = sample();
  std::string as_map;
  std::string as_array;
  encode_msgpack(value, as_map);
  encode_msgpack<RecordForm::array>(value, as_array);
  CHECK(as_array.size() < as_map.size());
  for (const auto& bytes : {as_map, as_array}) {
    Outer read{.number = 3,
               .maybe = "old",
               .inners = {{1, "old"}},
               .flat = {{"old", "old"}},
               .tree = {{"old", 1}}};
    REQUIRE(decode_msgpack(bytes, read));
    CHECK(read == value);
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
      REQUIRE_FALSE(decode_msgpack(std::string_view(bytes).substr(0, cut), read));
    }
  }
}

TEST_CASE(
    "msgpack codec: nlohmann::json reads what it writes, and it reads "
    "what nlohmann writes") {
  std::string bytes;
  encode_msgpack(sample(), bytes);
  const auto theirs = json::from_msgpack(bytes);
  const json expected = {
      {"flag", true},
      {"number", -70'000},
      {"ratio", 0.1},
      {"maybe", "here"},
      {"inners",
       {{{"small", 255}, {"text", "a"}}, {{"small", 0}, {"text", std::string(300, 'b')}}}},
      {"flat", {{"a", "1"}, {"b", "2"}}},
      {"tree", {{"x", 1}, {"y", -2}}}};
  CHECK(theirs == expected);

  Outer read;
  REQUIRE(decode_msgpack(packed(expected), read));  // By name: not in our order.
  CHECK(read == sample());
}

TEST_CASE(
    "msgpack codec: unknown names are skipped, and fields that are "
    "absent are made empty") {
  const auto bytes = packed({{"another", {{"deep", {1, 2}}}}, {"text", "x"}, {"zz", nullptr}});
  Inner read{7, "old"};
  REQUIRE(decode_msgpack(bytes, read));
  CHECK(read == Inner{0, "x"});

  REQUIRE(decode_msgpack(packed({9}), read));
  CHECK(read == Inner{9, ""});
  REQUIRE(decode_msgpack(packed({9, "y", "later"}), read));
  CHECK(read == Inner{9, "y"});
}

TEST_CASE("msgpack codec: what does not fit the type is refused") {
  Inner inner;
  CHECK_FALSE(decode_msgpack(packed({{"small", 256}, {"text", ""}}), inner));
  CHECK_FALSE(decode_msgpack(packed({{"small", -1}, {"text", ""}}), inner));
  CHECK_FALSE(decode_msgpack(packed({{"small", "1"}}), inner));
  CHECK_FALSE(decode_msgpack(packed("text"), inner));
  CHECK_FALSE(decode_msgpack("\x82\xa5small\x01\xa5small\x02", inner));
  Outer outer;
  CHECK_FALSE(
      decode_msgpack("\x81\xa4"
                     "flat\x82\xa1"
                     "a\xa1"
                     "1\xa1"
                     "a\xa1"
                     "2",
                     outer));
  CHECK_FALSE(
      decode_msgpack("\x81\xa4tree\x82\xa1"
                     "a\x01\xa1"
                     "a\x02",
                     outer));
  REQUIRE(
      decode_msgpack("\x81\xa4tree\x82\xa1"
                     "b\x01\xa1"
                     "a\x02",
                     outer));
  CHECK(outer.tree == std::map<std::string, std::int32_t>{{"a", 2}, {"b", 1}});
}

}  // namespace
}  // namespace orlop
