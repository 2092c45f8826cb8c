#include "peer/node_table.h"

#include <catch2/catch.hpp>

#include "tests/peer/reference_snapshot.h"

namespace orlop {
namespace {

std::uint64_t all_revisions(const NodeTable& table) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < table.section_count(); ++i) sum += table.revision(i);
  return sum;
}

TEST_CASE("node table: a peer is found by its id and by its address") {
  NodeTable table({});

  REQUIRE(table.touch(peer_number(7), 100));

  const auto node = table.find(peer_number(7).id);
  REQUIRE(node);
  CHECK(node->seen.ip == "10.0.0.7");
  CHECK(node->first_seen == 100);
  CHECK(table.find_address("10.0.0.7", 16001) == peer_number(7).id);
  CHECK(!table.find_address("10.0.0.7", 16002));
  CHECK(!table.find(peer_number(8).id));
}

TEST_CASE("node table: a heartbeat within the grain is no change, a later one is") {
  NodeTable table({.seen_grain = 60});
  REQUIRE(table.touch(peer_number(7), 100));
  const auto before = all_revisions(table);

  REQUIRE(table.touch(peer_number(7), 159));
  CHECK(all_revisions(table) == before);

  REQUIRE(table.touch(peer_number(7), 160));
  CHECK(all_revisions(table) == before + 1);
  CHECK(table.find(peer_number(7).id)->last_seen == 160);
  CHECK(table.find(peer_number(7).id)->first_seen == 100);
}

TEST_CASE("node table: another version of a peer is a change") {
  NodeTable table({});
  auto peer = peer_number(7);
  REQUIRE(table.touch(peer, 100));
  const auto before = all_revisions(table);

  peer.version = "2";
  REQUIRE(table.touch(peer, 101));

  CHECK(all_revisions(table) == before + 1);
  CHECK(table.find(peer.id)->seen.version == "2");
}

TEST_CASE("node table: a peer that moves is found at its new address alone") {
  NodeTable table({});
  auto peer = peer_number(7);
  const auto card = table.touch(peer, 100);
  REQUIRE(card);

  peer.ip = "10.9.9.9";
  const auto moved = table.touch(peer, 101);

  REQUIRE(moved);
  CHECK((*card)->gone);
  CHECK(!(*moved)->gone);
  CHECK(!table.find_address("10.0.0.7", 16001));
  CHECK(table.find_address("10.9.9.9", 16001) == peer.id);
  CHECK(table.size() == 1);
}

TEST_CASE("node table: a peer at the address of another one takes its place") {
  NodeTable table({});
  const auto before = table.touch(peer_number(7), 100);
  REQUIRE(before);
  auto restarted = peer_number(7);
  restarted.id = peer_number(8).id;

  REQUIRE(table.touch(restarted, 101));

  CHECK((*before)->gone);
  CHECK(!table.find(peer_number(7).id));
  CHECK(table.find_address("10.0.0.7", 16001) == restarted.id);
  CHECK(table.size() == 1);
}

TEST_CASE("node table: who is not seen for the TTL is forgotten, the others stay") {
  NodeTable table({.ttl = 1000, .seen_grain = 10});
  for (std::uint32_t i = 0; i < 100; ++i) REQUIRE(table.touch(peer_number(i), 100));
  for (std::uint32_t i = 0; i < 40; ++i) REQUIRE(table.touch(peer_number(i), 600));

  CHECK(table.expire(1109) == 0);
  CHECK(table.expire(1110) == 60);
  CHECK(table.size() == 40);
  CHECK(table.find(peer_number(39).id));
  CHECK(!table.find(peer_number(40).id));
  CHECK(!table.find_address("10.0.0.40", 16001));
  CHECK(table.expire(5000) == 40);
  CHECK(table.size() == 0);
}

TEST_CASE("node table: beyond its bound a new peer is refused as busy, a known one is not") {
  NodeTable table({.nodes_max = 2});
  REQUIRE(table.touch(peer_number(1), 100));
  REQUIRE(table.touch(peer_number(2), 100));

  const auto third = table.touch(peer_number(3), 100);

  REQUIRE(!third);
  CHECK(third.error().code() == Errc::busy);
  CHECK(table.touch(peer_number(1), 101));
  CHECK(table.size() == 2);
}

TEST_CASE("node table: ids that were chosen to fall together fill one leaf only") {
  NodeTable table({.nodes_max = 10'000});
  std::size_t refused = 0;
  for (std::uint32_t i = 0; i < NodeTable::kLeafNodesMax + 10; ++i) {
    auto peer = peer_number(i);
    auto bytes = peer.id.bytes();
    bytes[0] = bytes[1] = 0;
    peer.id = PeerId(bytes);
    if (!table.touch(peer, 100)) ++refused;
  }

  CHECK(refused == 10);
  CHECK(table.touch(peer_number(70'000), 100));
}

TEST_CASE("node table: what a stranger may not say is invalid, and nothing is known of it") {
  NodeTable table({});
  auto peer = peer_number(1);
  SECTION("no ip") { peer.ip.clear(); }
  SECTION("no port") { peer.port = 0; }
  SECTION("a long zone") { peer.zone = std::string(256, 'z'); }
  SECTION("a zone that is not UTF-8") { peer.zone = "\xff"; }
  SECTION("too many tags") {
    for (int i = 10; i < 27; ++i) peer.tags.emplace_back(std::to_string(i), "x");
  }
  SECTION("a tag twice") { peer.tags = {{"a", "1"}, {"a", "2"}}; }
  SECTION("a tag that is not UTF-8") { peer.tags = {{"a", "\xc3"}}; }

  const auto card = table.touch(peer, 100);

  REQUIRE(!card);
  CHECK(card.error().code() == Errc::invalid_argument);
  CHECK(table.size() == 0);
}

}  // namespace
}  // namespace orlop
