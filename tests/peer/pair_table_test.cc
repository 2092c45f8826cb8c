#include "peer/pair_table.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>

#include "tests/peer/reference_snapshot.h"

namespace orlop {
namespace {

PeerCardPtr card_number(std::uint32_t number) {
  const auto peer = peer_number(number);
  return std::make_shared<PeerCard>(peer.id, peer.ip, peer.port, false);
}

std::uint64_t all_revisions(const PairTable& table) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < table.section_count(); ++i) sum += table.revision(i);
  return sum;
}

std::set<std::string> chosen(PairTable& table, std::uint32_t infohash, std::size_t count_max) {
  std::vector<HandedOutPeer> peers;
  table.choose(infohash_number(infohash), count_max, peers);
  std::set<std::string> ips;
  for (const auto& peer : peers) ips.insert(peer.card->ip + (peer.complete ? " complete" : ""));
  CHECK(ips.size() == peers.size());
  return ips;
}

TEST_CASE("pair table: only a real change changes a revision") {
  Random random(1);
  PairTable table({}, random);
  const auto card = card_number(1);
  REQUIRE(table.put(infohash_number(1), card, false, 100));
  const auto before = all_revisions(table);

  REQUIRE(table.put(infohash_number(1), card, false, 200));
  CHECK(all_revisions(table) == before);

  REQUIRE(table.put(infohash_number(1), card, true, 200));
  CHECK(all_revisions(table) == before + 1);
  REQUIRE(table.put(infohash_number(1), card_number(2), true, 200));
  CHECK(all_revisions(table) == before + 2);
}

TEST_CASE("pair table: peers are chosen of the infohash that was asked for, each once") {
  Random random(1);
  PairTable table({}, random);
  for (std::uint32_t i = 0; i < 30; ++i) {
    REQUIRE(table.put(infohash_number(i % 2), card_number(i), i == 4, 100));
  }

  CHECK(chosen(table, 0, 100).size() == 15);
  CHECK(chosen(table, 0, 100).contains("10.0.0.4 complete"));
  CHECK(!chosen(table, 0, 100).contains("10.0.0.1"));
  CHECK(chosen(table, 0, 10).size() == 10);
  CHECK(chosen(table, 2, 10).empty());
}

TEST_CASE("pair table: every peer is chosen about equally often") {
  Random random(5);
  PairTable table({}, random);
  for (std::uint32_t i = 0; i < 20; ++i) {
    REQUIRE(table.put(infohash_number(0), card_number(i), false, 100));
  }
  std::map<std::string, int> times;
  for (int round = 0; round < 4000; ++round) {
    for (const auto& ip : chosen(table, 0, 5)) ++times[ip];
  }

  // 4000 * 5 / 20 = 1000 with a deviation of 27.
  CHECK(times.size() == 20);
  for (const auto& [ip, count] : times) CHECK((count > 850 && count < 1150));
}

TEST_CASE("pair table: a peer that is gone is not named, and its pair goes") {
  Random random(1);
  PairTable table({}, random);
  const auto gone = card_number(1);
  REQUIRE(table.put(infohash_number(0), gone, false, 100));
  REQUIRE(table.put(infohash_number(1), gone, false, 100));
  REQUIRE(table.put(infohash_number(0), card_number(2), false, 100));
  gone->gone = true;

  CHECK(chosen(table, 0, 10) == std::set<std::string>{"10.0.0.2"});
  CHECK(chosen(table, 1, 10).empty());
  CHECK(table.size() == 1);
  CHECK(gone->pairs == 0);
}

TEST_CASE("pair table: bounds hold for all pairs and for one peer's, and renewals pass") {
  Random random(1);
  PairTable table({.pairs_max = 5, .pairs_of_peer_max = 3}, random);
  const auto first = card_number(1);
  for (std::uint32_t i = 0; i < 3; ++i) REQUIRE(table.put(infohash_number(i), first, false, 100));
  CHECK(table.put(infohash_number(3), first, false, 100).error().code() == Errc::busy);
  REQUIRE(table.put(infohash_number(3), card_number(2), false, 100));
  REQUIRE(table.put(infohash_number(4), card_number(2), false, 100));

  CHECK(table.put(infohash_number(5), card_number(3), false, 100).error().code() == Errc::busy);
  CHECK(table.put(infohash_number(0), first, false, 100));
  CHECK(table.size() == 5);
}

/// Against a map, over many random steps.
TEST_CASE("pair table: it knows what a plain map knows after any announces and expiries") {
  const std::uint64_t seed = GENERATE(1U, 2U, 3U, 4U);
  INFO("seed " << seed);
  Random random(seed);
  PairTable table({.ttl = 100}, random);
  std::vector<PeerCardPtr> cards;
  for (std::uint32_t i = 0; i < 60; ++i) cards.push_back(card_number(i));
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::pair<PeerSeconds, bool>> known;

  PeerSeconds now = 1000;
  for (int step = 0; step < 20'000; ++step) {
    now += random.next() % 20 == 0 ? 2 : 0;
    const auto infohash = static_cast<std::uint32_t>(random.next() % 40);
    const auto peer = static_cast<std::uint32_t>(random.next() % cards.size());
    const bool complete = random.next() % 3 == 0;
    REQUIRE(table.put(infohash_number(infohash), cards[peer], complete, now));
    known[{infohash, peer}] = {now, complete};
    if (random.next() % 500 != 0) continue;
    const auto dropped =
        std::erase_if(known, [&](const auto& pair) { return pair.second.first + 100 <= now; });
    CHECK(table.expire(now) == dropped);
    CHECK(table.size() == known.size());
  }

  std::multiset<std::string> expected;
  for (const auto& [pair, state] : known) {
    expected.insert("\"" + infohash_number(pair.first).hex() + ":" + cards[pair.second]->id.hex() +
                    (state.second ? ":1\"" : ":0\""));
  }
  std::multiset<std::string> encoded;
  for (std::size_t i = 0; i < table.section_count(); ++i) {
    TextBuffer text;
    table.encode(i, text);
    for (std::size_t at = 0; at < text.size(); at += 86) {
      encoded.emplace(text.text().substr(at, 85));
    }
  }
  CHECK(encoded == expected);
}

}  // namespace
}  // namespace orlop
