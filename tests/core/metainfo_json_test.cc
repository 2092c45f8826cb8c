#include <catch2/catch.hpp>

#include "base/random.h"
#include "core/metainfo.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

const std::string kName = "b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9";
const std::string kSums = "[478544099,3342855505,732161222]";
const std::string kCanonical = R"({"Info":{"PieceLength":4,"PieceSums":)" + kSums + R"(,"Name":")" +
                               kName + R"(","Length":11}})";

/// "PieceLength":4 and so on, as a text that `change` may still alter.
std::string with(std::string_view old_part, std::string_view new_part) {
  auto text = kCanonical;
  const auto at = text.find(old_part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, old_part.size(), new_part);
}

std::string accepted_as(std::string_view text) {
  const auto info = MetaInfo::parse_json(text);
  return info ? info->json() : "refused: " + info.error().detail();
}

TEST_CASE("metainfo JSON: the canonical text is read and written unchanged") {
  CHECK(accepted_as(kCanonical) == kCanonical);
}

TEST_CASE("metainfo JSON: is as lenient as Go where old files need it") {
  const auto text = GENERATE_COPY(values<std::string>({
      " \t\r\n" + kCanonical + "\n",
      with("\"Info\"", "\"info\""),
      with("\"PieceLength\"", "\"PIECELENGTH\""),
      with("\"PieceSums\"", "\"piecesums\""),
      with("\"Name\"", "\"nAmE\""),
      with("\"Length\"", "\"leNgth\""),
      with("\"Info\"", "\"\\u0049nfo\""),
      with("{\"Info\"", R"({"Announce":"","AnnounceList":null,"CreationDate":-1.5e3,"Info")"),
      with("11}}", R"(11},"Comment":{"a":[{}]},"CreatedBy":["Info",{"Info":0}]})"),
      with("\"Length\":11", R"("Length":99,"length":11)"),
      with("\"PieceSums\"", R"("PieceSums":[1,2],"PieceSums")"),
      with("\"Length\":11", R"("Length":11,"Length":null)"),
      with("\"Name\":", R"("Name":"no","Name":)"),
      with("11}}", R"(11},"Info":null})"),
      with("11}}", R"(11},"info":{}})"),
      with("\"Length\":11}}", R"("Length":99},"Info":{"Length":11}})"),
  }));
  INFO(text);
  CHECK(accepted_as(text) == kCanonical);
}

TEST_CASE("metainfo JSON: no sums may be null, an empty list, or left out") {
  const std::string empty =
      R"({"Info":{"PieceLength":4,"PieceSums":null,"Name":")" + kName + R"(","Length":0}})";
  CHECK(accepted_as(empty) == empty);
  CHECK(accepted_as(R"({"Info":{"PieceLength":4,"PieceSums":[],"Name":")" + kName +
                    R"(","Length":0}})") == empty);
  CHECK(accepted_as(R"({"Info":{"PieceLength":4,"Name":")" + kName + R"("}})") == empty);
  CHECK(accepted_as(R"({"Info":{"PieceLength":4,"PieceSums":[1],"PieceSums":null,"Name":")" +
                    kName + R"("}})") == empty);
}

TEST_CASE("metainfo JSON: refuses what is not JSON, not metainfo, or does not fit") {
  const auto text = GENERATE_COPY(values<std::string>({
      "",
      " ",
      "null",
      "[]",
      "7",
      "{}",
      R"({"Info":{}})",
      R"({"Info":[]})",
      kCanonical.substr(0, kCanonical.size() - 1),
      kCanonical + "x",
      kCanonical + kCanonical,
      kCanonical + std::string(1, '\0'),
      "\xef\xbb\xbf" + kCanonical,
      with("{\"Info\"", R"({"x":tru,"Info")"),
      with("{\"Info\"", R"({"x":01,"Info")"),
      with("{\"Info\"", R"({"x":"\q","Info")"),
      with("{\"Info\"", "{\"x\":\"\xff\",\"Info\""),
      with("{\"Info\"", R"({"x":[1,],"Info")"),
      with("{\"Info\"", R"({"x":)" + std::string(100, '[') + std::string(100, ']') + R"(,"Info")"),
      with("\"Info\"", "\"Infos\""),
      with("\"Name\"", "\"Nam\""),
      with(kName, ""),
      with(kName, kName.substr(1)),
      with(kName, "sha256:" + kName),
      with(kName, "B" + kName.substr(1)),
      with("\"" + kName + "\"", "7"),
      with(":4", ":0"),
      with(":4", ":-4"),
      with(":4", ":4.0"),
      with(":4", ":4e0"),
      with(":4", ":\"4\""),
      with(":4", ":9223372036854775808"),
      with(":4", ":6"),
      with(":4", ":3"),
      with(":11", ":13"),
      with(":11", ":8"),
      with(":11", ":-11"),
      with(":11", ":18446744073709551627"),
      with(":11", ":true"),
      with(kSums, "[1,2]"),
      with(kSums, "[1,2,3,4]"),
      with(kSums, "[1,2,4294967296]"),
      with(kSums, "[1,2,-3]"),
      with(kSums, "[1,2,3.0]"),
      with(kSums, "[1,2,null]"),
      with(kSums, "{}"),
      with(kSums, "null"),
      with(kSums, "\"\""),
  }));
  INFO(text);
  const auto info = MetaInfo::parse_json(text);
  REQUIRE_FALSE(info);
  CHECK(info.error().code() == Errc::invalid_argument);
  CHECK(info.error().detail().starts_with("metainfo: "));
  CHECK(info.error().detail().size() < 400);
}

TEST_CASE("metainfo JSON: a refusal names the field and the reason") {
  CHECK(accepted_as(with(":11", ":-11")) == "refused: metainfo: Length: negative");
  CHECK(accepted_as(with(":4", ":-4")) == "refused: metainfo: PieceLength: negative");
  CHECK(accepted_as(with(":4", ":0")) == "refused: metainfo: piece length must be positive");
  CHECK(accepted_as(with(kName, "ab")) ==
        "refused: metainfo: Name: invalid sha256: expected 64 characters, got 2 from \"ab\"");
  CHECK(accepted_as(with(kSums, "[1,2,4294967296]")) ==
        "refused: metainfo: PieceSums: a sum is above 32 bits");
}

TEST_CASE("metainfo JSON: looks at no text that is longer than any metainfo") {
  const auto room = MetaInfo::kJsonBytesMax - kCanonical.size();
  CHECK(accepted_as(kCanonical + std::string(room, ' ')) == kCanonical);
  CHECK(accepted_as(kCanonical + std::string(room + 1, ' ')) ==
        "refused: metainfo: JSON: too long");
}

TEST_CASE("metainfo JSON: accepts nothing that another JSON parser refuses") {
  Random random(11);
  const std::string alphabet = "{}[]\":,0123456789-+.eEnulltrfasINPLo\\ \n\x01\xc3\xff";
  std::size_t accepted = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto text = kCanonical;
    for (auto edits = 1 + random.next() % 3; edits > 0; --edits) {
      const auto at = random.next() % text.size();
      switch (random.next() % 3) {
        case 0: text[at] = alphabet[random.next() % alphabet.size()]; break;
        case 1: text.erase(at, 1 + random.next() % 4); break;
        default: text.insert(at, 1, alphabet[random.next() % alphabet.size()]); break;
      }
    }
    if (!MetaInfo::parse_json(text)) continue;
    ++accepted;
    if (!nlohmann::json::accept(text)) FAIL(text);
  }
  CHECK(accepted > 100);  // Else the edits were too wild to prove anything.
}

}  // namespace
}  // namespace orlop
