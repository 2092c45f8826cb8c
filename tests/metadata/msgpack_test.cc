#include "metadata/msgpack.h"

#include <algorithm>
#include <bit>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "core/digester.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

using nlohmann::json;

/// "1500000000.999999999".
MsgpackTimestamp timestamp_of(const std::string& text) {
  const auto nanoseconds = std::stoul(text.substr(text.find('.') + 1));
  return {std::stoll(text), static_cast<std::uint32_t>(nanoseconds)};
}

/// What a vector's `kind` and `value` stand for: "-33", "31 x 'a'", "300 sorted keys …".
std::string write_case(const std::string& kind, const std::string& value) {
  std::string out;
  MsgpackWriter writer(out);
  const auto count = [&] { return static_cast<std::size_t>(std::stoull(value)); };
  if (kind == "nil") writer.write_nil();
  if (kind == "bool") writer.write_bool(value == "true");
  if (kind == "int") writer.write_int(std::stoll(value));
  if (kind == "uint") writer.write_uint(std::stoull(value));
  if (kind == "str") writer.write_str(std::string(count(), 'a'));
  if (kind == "bin") writer.write_bin(std::string(count(), 'a'));
  if (kind == "float64") {
    writer.write_double(std::bit_cast<double>(std::uint64_t{std::stoull(value, nullptr, 16)}));
  }
  if (kind == "float32") {
    const auto bits = static_cast<std::uint32_t>(std::stoul(value, nullptr, 16));
    writer.write_float(std::bit_cast<float>(bits));
  }
  if (kind == "timestamp") writer.write_timestamp(timestamp_of(value));
  if (kind == "array") {
    writer.write_array(count());
    for (std::size_t i = 0; i < count(); ++i) writer.write_int(0);
  }
  if (kind == "map") {
    writer.write_map(count());
    for (std::size_t i = 0; i < count(); ++i) {
      const auto number = std::to_string(i);
      writer.write_str("k" + std::string(5 - number.size(), '0') + number);
      writer.write_str("v");
    }
  }
  return out;
}

/// Reads one value of any kind.
json read_value(MsgpackReader& reader) {
  switch (reader.peek()) {
    case MsgpackKind::nil: return reader.read_nil(), json();
    case MsgpackKind::boolean: return reader.read_bool();
    case MsgpackKind::integer: {
      auto unsigned_reader = reader;
      if (const auto number = unsigned_reader.read_uint(); !unsigned_reader.failed()) {
        reader = unsigned_reader;
        return number;
      }
      return reader.read_int();
    }
    case MsgpackKind::str: return std::string(reader.read_str());
    case MsgpackKind::bin: {
      const auto bytes = reader.read_bin();
      return json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()));
    }
    case MsgpackKind::array: {
      auto array = json::array();
      for (auto left = reader.read_array(); left > 0; --left) array.push_back(read_value(reader));
      return array;
    }
    case MsgpackKind::map: {
      auto object = json::object();
      for (auto left = reader.read_map(); left > 0; --left) {
        const std::string name(reader.read_str());
        object[name] = read_value(reader);
      }
      return object;
    }
    case MsgpackKind::floating: return reader.read_double();
    case MsgpackKind::ext: {
      const auto [type, bytes] = reader.read_ext();
      const auto subtype = static_cast<std::uint8_t>(type);
      return json::binary(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), subtype);
    }
    case MsgpackKind::none: break;
  }
  FAIL("no value of ours");
  return {};
}

void write_value(MsgpackWriter& writer, const json& value) {
  if (value.is_null()) writer.write_nil();
  if (value.is_boolean()) writer.write_bool(value.get<bool>());
  if (value.is_number_unsigned()) {
    writer.write_uint(value.get<std::uint64_t>());
  } else if (value.is_number_integer()) {
    writer.write_int(value.get<std::int64_t>());
  }
  if (value.is_number_float()) {  // nlohmann's rule: the smaller width, if it holds the number.
    const auto wide = value.get<double>();
    const bool narrow = std::abs(wide) <= double{std::numeric_limits<float>::max()} &&
                        double{static_cast<float>(wide)} == wide;
    narrow ? writer.write_float(static_cast<float>(wide)) : writer.write_double(wide);
  }
  if (value.is_string()) writer.write_str(value.get<std::string>());
  if (value.is_binary()) {
    const auto& bytes = value.get_binary();
    const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    bytes.has_subtype() ? writer.write_ext(static_cast<std::int8_t>(bytes.subtype()), view)
                        : writer.write_bin(view);
  }
  if (value.is_array()) {
    writer.write_array(value.size());
    for (const auto& element : value) write_value(writer, element);
  }
  if (value.is_object()) {
    writer.write_map(value.size());
    for (const auto& [name, element] : value.items()) {
      writer.write_str(name);
      write_value(writer, element);
    }
  }
}

json random_value(std::mt19937_64& random, int depth) {
  const auto below = [&](std::uint64_t bound) { return random() % bound; };
  const auto size = below(10) == 0 ? below(70'000) : below(40);
  switch (below(depth < 4 ? 10 : 8)) {
    case 0: return nullptr;
    case 1: return below(2) == 1;
    case 2: return random() >> below(64);
    case 3: return -static_cast<std::int64_t>(random() >> (1 + below(63))) - 1;
    case 4: return std::string(size, 's');
    case 5: return json::binary(std::vector<std::uint8_t>(size, 0xc1));
    case 6: {
      const auto wide = std::bit_cast<double>(random());
      return below(2) == 0 || std::isnan(wide) ? json(std::ldexp(1.0, static_cast<int>(below(300))))
                                               : json(wide);
    }
    case 7: {
      const auto type = static_cast<std::uint8_t>(random());
      return json::binary(std::vector<std::uint8_t>(below(2) == 0 ? below(18) : size, 7), type);
    }
    case 8: {
      auto array = json::array();
      for (auto left = below(20); left > 0; --left)
        array.push_back(random_value(random, depth + 1));
      return array;
    }
    default: {
      auto object = json::object();
      for (auto left = below(20); left > 0; --left) {
        object[std::to_string(random())] = random_value(random, depth + 1);
      }
      return object;
    }
  }
}

std::string_view as_text(const std::vector<std::uint8_t>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool skips(std::string_view bytes) {
  MsgpackReader reader(bytes);
  reader.skip();
  return reader.finish().has_value();
}

TEST_CASE("msgpack: what we write is what vmihailenco/msgpack writes", "[golden]") {
  const auto vectors = golden("msgpack.json");
  int checked = 0;
  for (const auto& vector : vectors.at("cases")) {
    const auto kind = vector.at("kind").get<std::string>();
    const auto value = vector.at("value").get<std::string>();
    CAPTURE(kind, value);

    const auto bytes = write_case(kind, value);

    CHECK(bytes.size() == vector.at("bytes").get<std::size_t>());
    if (vector.contains("hex")) {
      CHECK(bytes == bytes_of_hex(vector.at("hex")));
    } else {
      CHECK(bytes.starts_with(bytes_of_hex(vector.at("head_hex"))));
      CHECK(digest_of(bytes).hex() == vector.at("sha256").get<std::string>());
    }
    ++checked;
  }
  CHECK(checked == 72);
}

TEST_CASE("msgpack: every vector can be skipped, and none of them cut short", "[golden]") {
  const auto vectors = golden("msgpack.json");
  for (const auto& vector : vectors.at("cases")) {
    if (!vector.contains("hex")) continue;
    const auto bytes = bytes_of_hex(vector.at("hex"));
    CAPTURE(vector.at("hex").get<std::string>());

    CHECK(skips(bytes));
    for (std::size_t cut = 0; cut < bytes.size(); ++cut) CHECK_FALSE(skips(bytes.substr(0, cut)));
    CHECK_FALSE(skips(bytes + '\xc0'));
  }
}

TEST_CASE("msgpack: reading and writing agree with nlohmann::json") {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 300; ++round) {
    CAPTURE(round);
    const auto value = random_value(random, 0);
    const auto theirs = json::to_msgpack(value);
    std::string ours;
    MsgpackWriter writer(ours);
    write_value(writer, value);
    REQUIRE(ours == as_text(theirs));

    MsgpackReader reader(as_text(theirs));
    const auto read = read_value(reader);
    REQUIRE(reader.finish());
    REQUIRE(read == value);
    REQUIRE(json::from_msgpack(ours) == value);
  }
}

TEST_CASE("msgpack: a value cut short is refused at every byte") {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto whole = json::to_msgpack(random_value(random, 2));
    const auto step = std::max<std::size_t>(1, whole.size() / 300);
    for (std::size_t cut = 0; cut < whole.size(); cut += step) {
      const auto bytes = as_text(whole).substr(0, cut);
      CAPTURE(round, cut);
      REQUIRE_FALSE(skips(bytes));
    }
  }
}

TEST_CASE("msgpack: integers are read from every form that holds them, and from no other") {
  const auto as_int = [](const std::string& hex) -> std::optional<std::int64_t> {
    const auto bytes = bytes_of_hex(hex);
    MsgpackReader reader(bytes);
    const auto value = reader.read_int();
    return reader.finish() ? std::optional(value) : std::nullopt;
  };
  const auto as_uint = [](const std::string& hex) -> std::optional<std::uint64_t> {
    const auto bytes = bytes_of_hex(hex);
    MsgpackReader reader(bytes);
    const auto value = reader.read_uint();
    return reader.finish() ? std::optional(value) : std::nullopt;
  };

  for (const auto* five : {"05", "cc05", "cd0005", "ce00000005", "cf0000000000000005", "d005",
                           "d10005", "d200000005", "d30000000000000005"}) {
    CHECK(as_int(five) == 5);
    CHECK(as_uint(five) == 5U);
  }
  for (const auto* minus_two : {"fe", "d0fe", "d1fffe", "d2fffffffe", "d3fffffffffffffffe"}) {
    CHECK(as_int(minus_two) == -2);
    CHECK_FALSE(as_uint(minus_two));
  }
  CHECK(as_int("d38000000000000000") == std::numeric_limits<std::int64_t>::min());
  CHECK(as_int("cf7fffffffffffffff") == std::numeric_limits<std::int64_t>::max());
  CHECK_FALSE(as_int("cf8000000000000000"));
  CHECK(as_uint("cf8000000000000000") == std::uint64_t{1} << 63);
  for (const auto* other : {"c0", "c3", "a135", "c40105", "9105", "ca40a00000", "c1", ""}) {
    CAPTURE(other);
    CHECK_FALSE(as_int(other));
    CHECK_FALSE(as_uint(other));
  }
}

TEST_CASE("msgpack: a count beyond the bytes left is refused before anyone can reserve for it") {
  for (const auto* hex : {"ddffffffff", "dcffff00", "9300c0", "dfffffffff00", "de00010000c1",
                          "8100", "df8000000000"}) {
    CAPTURE(hex);
    const auto bytes = bytes_of_hex(hex);
    MsgpackReader reader(bytes);
    const auto count = reader.peek() == MsgpackKind::map ? reader.read_map() : reader.read_array();
    if (!reader.failed()) CHECK(count <= bytes.size());
    CHECK_FALSE(skips(bytes + std::string(1, '\xc1')));
  }
  for (const auto* hex : {"dbffffffff61", "c6ffffffff61", "d9ff61", "a261", "c50002",
                          "c9ffffffff0161", "c70201aa", "d8ff00"}) {
    CAPTURE(hex);
    CHECK_FALSE(skips(bytes_of_hex(hex)));
  }
}

TEST_CASE("msgpack: nesting is limited for who reads one by one, and not for who skips") {
  const auto nested = [](std::size_t depth) { return std::string(depth, '\x91') + '\xc0'; };
  const auto read = [](std::string_view bytes) {
    MsgpackReader reader(bytes);
    while (reader.peek() == MsgpackKind::array) reader.read_array();
    reader.read_nil();
    return reader.finish().has_value();
  };

  CHECK(read(nested(MsgpackReader::kDepthMax)));
  CHECK_FALSE(read(nested(MsgpackReader::kDepthMax + 1)));
  CHECK(skips(nested(10'000'000)));
}

TEST_CASE("msgpack: skip passes over every kind, and not over the byte that is none") {
  for (const auto* hex :
       {"ca3fc00000", "cb3ff0000000000000", "d401aa", "d501aabb", "d601aabbccdd",
        "d7010011223344556677", "d80100112233445566778899aabbccddeeff", "c70001", "c70301aabbcc",
        "c8000201aabb", "c90000000101aa", "82a161ca3fc00000a162d6ff00000000", "92c0c1"}) {
    CAPTURE(hex);
    const auto bytes = bytes_of_hex(hex);
    CHECK(skips(bytes) == (bytes.back() != '\xc1'));

    const auto in_array = "\x93\x01" + bytes + "\x07";
    MsgpackReader reader(in_array);
    REQUIRE(reader.read_array() == 3);
    CHECK(reader.read_uint() == 1);
    reader.skip();
    CHECK(reader.read_uint() == (bytes.back() == '\xc1' ? 0 : 7));
  }
}

TEST_CASE("msgpack: a failed reader stays failed and answers nothing") {
  const std::string bytes = "\x93\x01\xa1x\x02";
  MsgpackReader reader(bytes);
  REQUIRE(reader.read_array() == 3);
  CHECK(reader.read_str().empty());  // It is a number.

  CHECK(reader.failed());
  CHECK(reader.peek() == MsgpackKind::none);
  CHECK(reader.read_uint() == 0);
  CHECK(reader.read_str().empty());
  CHECK(reader.read_array() == 0);
  CHECK(reader.bytes_left() == 0);
  REQUIRE_FALSE(reader.finish());
  CHECK(reader.finish().error().code() == Errc::corrupt);
  CHECK(reader.finish().error().detail() == "msgpack: not a str");
}

TEST_CASE("msgpack: an array that is short of its values is not finished") {
  const std::string bytes = "\x92\x01\x02";
  MsgpackReader reader(bytes);
  reader.read_array();
  reader.read_uint();
  CHECK_FALSE(reader.finish());
  reader.read_uint();
  CHECK(reader.finish());
}

TEST_CASE("msgpack: floats and timestamps of the vectors are read as what was written",
          "[golden]") {
  int checked = 0;
  const auto vectors = golden("msgpack.json");
  for (const auto& vector : vectors.at("cases")) {
    const auto kind = vector.at("kind").get<std::string>();
    const auto value = vector.at("value").get<std::string>();
    if (kind != "float64" && kind != "float32" && kind != "timestamp") continue;
    CAPTURE(kind, value);
    const auto bytes = bytes_of_hex(vector.at("hex"));
    MsgpackReader reader(bytes);
    if (kind == "float64") {
      CHECK(std::bit_cast<std::uint64_t>(reader.read_double()) == std::stoull(value, nullptr, 16));
    } else if (kind == "float32") {
      CHECK(std::bit_cast<std::uint32_t>(reader.read_float()) == std::stoul(value, nullptr, 16));
    } else {
      CHECK(reader.read_timestamp() == timestamp_of(value));
    }
    CHECK(reader.finish());
    ++checked;
  }
  CHECK(checked == 13);
}

}  // namespace
}  // namespace orlop
