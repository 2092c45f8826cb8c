#include "core/digest.h"

#include <catch2/catch.hpp>
#include <set>
#include <unordered_set>

#include "core/quote.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

const std::string kEmptyHex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// What the original accepts and we refuse: names under which nothing could ever be found.
const std::set<std::string> kRefusedHere = {
    "sha256:E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855",
};

TEST_CASE("digest: accepts and refuses what the original does, in its words", "[golden]") {
  std::size_t refused_here = 0;
  const auto vectors = golden("digest.json");
  REQUIRE(vectors.at("cases").size() >= 20);
  for (const auto& one : vectors.at("cases")) {
    const auto input = one.at("input").get<std::string>();
    INFO(input);
    const auto digest = Digest::parse(input);
    if (kRefusedHere.contains(input)) {
      ++refused_here;
      REQUIRE_FALSE(digest);
      CHECK(digest.error().code() == Errc::invalid_argument);
      CHECK(digest.error().detail() == "invalid sha256: hex: upper case is not accepted");
    } else if (one.contains("error")) {
      REQUIRE_FALSE(digest);
      CHECK(digest.error().code() == Errc::invalid_argument);
      CHECK(digest.error().detail() == one.at("error"));
    } else {
      REQUIRE(digest);
      CHECK(digest->hex() == one.at("hex"));
      CHECK(digest->to_string() == one.at("text"));
    }
  }
  CHECK(refused_here == kRefusedHere.size());
}

TEST_CASE("digest: no single foreign character gets in, wherever it stands") {
  for (std::size_t i = 0; i < kEmptyHex.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      auto hex = kEmptyHex;
      hex[i] = static_cast<char>(byte);
      const bool is_lower_hex = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
      if (Digest::parse_hex(hex).has_value() != is_lower_hex) FAIL("byte " << byte << " at " << i);
    }
  }
}

TEST_CASE("digest: names the byte that is not hex as Go's %#U does") {
  const auto [byte, want] = GENERATE(table<char, std::string>({
      {'g', "U+0067 'g'"},
      {' ', "U+0020 ' '"},
      {'\0', "U+0000"},
      {'\x7f', "U+007F"},
      {'\x80', "U+0080"},
      {'\xa0', "U+00A0"},
      {'\xad', "U+00AD"},
      {'\xe9', "U+00E9 'é'"},
      {'\xff', "U+00FF 'ÿ'"},
  }));
  auto hex = kEmptyHex;
  hex[5] = byte;
  hex[6] = 'A';  // Upper case is not what the original would stumble on.

  CHECK(Digest::parse_hex(hex).error().detail() ==
        "invalid sha256: hex: encoding/hex: invalid byte: " + want);
}

TEST_CASE("digest: an error repeats only the start of a long text") {
  const auto error = Digest::parse("sha256:" + std::string(100'000, 'a')).error();

  CHECK(error.detail() == "invalid sha256: expected 64 characters, got 100000 from \"" +
                              std::string(kQuoteBytesMax, 'a') + "...\"");
}

TEST_CASE("digest: the bare hex form takes no prefix") {
  CHECK(Digest::parse_hex(kEmptyHex)->to_string() == "sha256:" + kEmptyHex);
  CHECK_FALSE(Digest::parse_hex("sha256:" + kEmptyHex));
}

TEST_CASE("digest: orders by bytes, and equal ones share a hash") {
  const auto low = *Digest::parse_hex("00" + kEmptyHex.substr(2));
  const auto high = *Digest::parse_hex("ff" + kEmptyHex.substr(2));
  const auto same = *Digest::parse_hex("ff" + kEmptyHex.substr(2));

  CHECK(low < high);
  CHECK(high == same);
  CHECK(std::unordered_set<Digest>{low, high, same}.size() == 2);
  CHECK(std::hash<Digest>()(low) != std::hash<Digest>()(high));
}

TEST_CASE("quote: prints as Go's %q does for ASCII, and nothing that a terminal would obey") {
  const auto [text, want] = GENERATE(table<std::string, std::string>({
      {"", R"("")"},
      {"plain text", R"("plain text")"},
      {"a\"b\\c", R"("a\"b\\c")"},
      {"\a\b\f\n\r\t\v", R"("\a\b\f\n\r\t\v")"},
      {std::string("\0\x1b\x7f", 3), R"("\x00\x1b\x7f")"},
      {"\xc3\xa9", R"("\xc3\xa9")"},
  }));
  CHECK(quote(text) == want);
}

TEST_CASE("quote: shows all of a text at the limit, and says when there is more") {
  CHECK(quote(std::string(kQuoteBytesMax, 'x')) == '"' + std::string(kQuoteBytesMax, 'x') + '"');
  CHECK(quote(std::string(kQuoteBytesMax + 1, 'x')) ==
        '"' + std::string(kQuoteBytesMax, 'x') + "...\"");
}

}  // namespace
}  // namespace orlop
