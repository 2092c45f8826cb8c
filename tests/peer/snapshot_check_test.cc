#include "peer/snapshot_check.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <string>

#include "peer/registry_facts.h"
#include "tests/peer/reference_snapshot.h"

namespace orlop {
namespace {

std::string small_snapshot(std::uint64_t saved_at = 7) {
  return reference_snapshot({{.name = "nodes", .sections = {{"1", "2"}, {}, {"3"}}},
                             {.name = "pairs", .sections = {{"\"a\""}, {"\"b\""}}}},
                            saved_at);
}

std::string why_not(const std::string& bytes) {
  const auto contents = check_snapshot(bytes);
  return contents ? "it is good" : contents.error().detail();
}

std::string padded(std::string bytes) { return bytes.append(snapshot_padding_bytes(), '\0'); }

TEST_CASE("snapshot check: a whole snapshot is good, and its sections are where they are") {
  const auto bytes = small_snapshot();

  const auto contents = check_snapshot(bytes);

  REQUIRE(contents);
  CHECK(contents->saved_at == 7);
  REQUIRE(contents->sections.size() == 4);
  const auto& section = contents->sections[1];
  CHECK(section.collection == "nodes");
  CHECK(bytes.substr(section.offset, section.length_bytes) == "3");
}

TEST_CASE("snapshot check: no flipped bit, anywhere, is taken for good") {
  const auto good = small_snapshot();
  for (std::size_t byte = 0; byte < good.size(); ++byte) {
    for (int bit = 0; bit < 8; ++bit) {
      auto bytes = good;
      bytes[byte] = static_cast<char>(bytes[byte] ^ (1 << bit));
      if (check_snapshot(bytes)) FAIL("byte " << byte << " bit " << bit);
    }
  }
}

TEST_CASE("snapshot check: no part of a snapshot, and nothing behind it, is taken for good") {
  const auto good = small_snapshot();
  for (std::size_t length = 0; length < good.size(); ++length) {
    if (check_snapshot(good.substr(0, length))) FAIL(length << " bytes");
    if (length > 0 && check_snapshot(good.substr(length))) FAIL("without " << length << " bytes");
  }
  CHECK(!check_snapshot(good + "\n"));
  CHECK(!check_snapshot(good + good));
}

TEST_CASE("snapshot check: sections that changed places are refused") {
  auto bytes = small_snapshot();
  const auto at = bytes.find("\"a\",\"b\"");
  REQUIRE(at != std::string::npos);
  bytes.replace(at, 7, "\"b\",\"a\"");

  CHECK(why_not(bytes) == "snapshot: section pairs 2 has another digest");
}

TEST_CASE("snapshot check: a section of another generation is refused") {
  auto bytes = small_snapshot();
  const auto other = reference_snapshot({{.name = "nodes", .sections = {{"1", "2"}, {}, {"4"}}},
                                         {.name = "pairs", .sections = {{"\"a\""}, {"\"b\""}}}},
                                        7);
  const auto body = bytes.find(",\"saved_at\"");

  CHECK(why_not(other.substr(0, body) + bytes.substr(body)) ==
        "snapshot: section nodes 1 has another digest");
  // With its row in the table, too.
  const auto row = bytes.find("[\"nodes\",1,");
  REQUIRE(row != std::string::npos);
  CHECK(why_not(other.substr(0, row + 80) + bytes.substr(row + 80)) ==
        "snapshot: the checksum is not that of its table of sections");
}

TEST_CASE("snapshot check: a version of the future is refused by its number") {
  auto bytes = small_snapshot();
  bytes.replace(0, 13, "{\"version\":2,");

  CHECK(why_not(bytes) == "snapshot: version 2 is not one that this program knows");
}

TEST_CASE("registry facts: the example in docs/formats.md is read as it says", "[golden]") {
  std::ifstream file(ORLOP_SOURCE_DIR "/docs/formats.md");
  const std::string kName = "peer-snapshot ";
  std::string line;
  while (std::getline(file, line) && !line.starts_with(kName)) continue;
  REQUIRE(line.starts_with(kName));
  auto bytes = padded(line.substr(kName.size()) + "\n");

  const auto facts = parse_registry(bytes);

  REQUIRE(facts);
  REQUIRE(facts->nodes.size() == 1);
  REQUIRE(facts->pairs.size() == 1);
  CHECK(reference_json(facts->nodes[0]) == reference_json({.seen = peer_number(1 | 10 << 24),
                                                           .first_seen = 1'796'000'000,
                                                           .last_seen = 1'796'000'000}));
  CHECK(facts->pairs[0].infohash.hex() == std::string(39, '0') + "1");
  CHECK(facts->pairs[0].complete);
}

TEST_CASE("registry facts: elements that are not as they have to be are refused") {
  const auto id = peer_number(1).id.hex();
  const auto pair = std::string(40, 'a') + ":" + id;
  const std::string node = "{\"peer\":\"" + id + "\",\"ip\":\"10.0.0.1\",\"port\":1}";
  const auto of = [](const std::string& name, const std::string& element) {
    auto bytes = padded(reference_snapshot({{.name = name, .sections = {{element}}}}, 1));
    const auto before = bytes;
    const auto facts = parse_registry(bytes);
    CHECK(bytes == before);
    return facts.has_value();
  };

  CHECK(of("nodes", node));
  CHECK(of("pairs", "\"" + pair + ":1\""));
  CHECK(!of("others", node));
  CHECK(!of("nodes", "1"));
  CHECK(!of("nodes", "{}"));
  CHECK(!of("nodes", "{\"peer\":\"" + id + "\"}"));
  CHECK(!of("nodes", node.substr(0, node.size() - 1)));
  CHECK(!of("nodes", node + "]"));
  CHECK(!of("nodes", "{\"peer\":\"" + id + "\",\"ip\":\"10.0.0.1\",\"port\":65536}"));
  CHECK(!of("nodes", "{\"peer\":\"" + id + "\",\"ip\":\"10.0.0.1\",\"port\":-1}"));
  CHECK(!of("nodes", "{\"peer\":\"" + id + "\",\"ip\":\"10.0.0.1\",\"port\":1,\"new\":1}"));
  CHECK(!of("pairs", "\"" + pair + ":2\""));
  CHECK(!of("pairs", "\"" + pair + "\""));
  CHECK(!of("pairs", "\"" + pair.substr(1) + "x:1\""));
  CHECK(!of("pairs", "7"));
}

}  // namespace
}  // namespace orlop
