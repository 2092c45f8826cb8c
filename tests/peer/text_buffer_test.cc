#include "peer/text_buffer.h"

#include <catch2/catch.hpp>

#include "base/hex.h"
#include "base/json_writer.h"
#include "base/random.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

std::string encoded(std::string_view text) {
  TextBuffer buffer;
  buffer.append_json(text);
  return std::string(buffer.text());
}

TEST_CASE("text buffer: strings are encoded as the recorded ones", "[golden]") {
  const auto vectors = golden("json_strings.json");
  for (const auto& one : vectors.at("cases")) {
    const auto hex = one.at("in_hex").get<std::string>();
    std::string text(hex.size() / 2, '\0');
    REQUIRE(from_hex(hex, {reinterpret_cast<std::uint8_t*>(text.data()), text.size()}));

    const auto out = encoded(text);

    INFO(hex);
    CHECK(to_hex({reinterpret_cast<const std::uint8_t*>(out.data()), out.size()}) ==
          one.at("out_hex").get<std::string>());
  }
}

TEST_CASE("text buffer: whichever byte is special, and wherever it stands, it is seen") {
  for (std::size_t length = 1; length <= 40; ++length) {
    for (std::size_t place = 0; place < length; ++place) {
      for (int byte = 0; byte < 256; ++byte) {
        std::string text(length, 'x');
        text[place] = static_cast<char>(byte);
        std::string expected;
        append_json_string(expected, text);
        if (encoded(text) != expected) FAIL(length << " " << place << " " << byte);
      }
    }
  }
}

TEST_CASE("text buffer: random strings are encoded as the plain encoder does") {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U);
  Random random(seed);
  const std::vector<std::string> parts = {"a",    "plain text ", "\"",           "\\",
                                          "\n",   "\x01",        "\xe2\x80\xa8", "\xf0\x9f\x98\x80",
                                          "\xff", "\xc3",        "\xe2\x80",     "<&>"};
  TextBuffer buffer;
  for (int i = 0; i < 30'000; ++i) {
    std::string text;
    for (auto count = random.next() % 9; count > 0; --count) {
      text += parts[random.next() % parts.size()];
    }
    std::string expected;
    append_json_string(expected, text);
    buffer.clear();
    buffer.append_json(std::string_view(text));
    if (buffer.text() != expected) FAIL("seed " << seed << ", string " << i);
  }
  const std::string large(100'000, '"');
  CHECK(encoded(large).size() == 200'002);
}

TEST_CASE("text buffer: numbers of every length are decimal") {
  std::uint64_t number = 1;
  for (int digits = 1; digits <= 20; ++digits, number *= 10) {
    for (const auto value : {number - 1, number, number + 1, number * 3 / 2}) {
      TextBuffer buffer;
      buffer.append_json(value);
      CHECK(buffer.text() == std::to_string(value));
    }
  }
}

TEST_CASE("text buffer: clear keeps the memory") {
  TextBuffer buffer;
  for (int i = 0; i < 10'000; ++i) buffer.append("0123456789");
  const auto capacity = buffer.capacity();

  buffer.clear();
  for (int i = 0; i < 10'000; ++i) buffer.append("0123456789");

  CHECK(buffer.capacity() == capacity);
  CHECK(buffer.size() == 100'000);
}

}  // namespace
}  // namespace orlop
