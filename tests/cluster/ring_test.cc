#include "cluster/ring.h"

#include <catch2/catch.hpp>
#include <map>
#include <random>
#include <set>

#include "core/digester.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

Ring ring_of(std::vector<std::string> members, std::size_t max_replica) {
  auto ring = Ring::of(std::move(members), max_replica);
  REQUIRE(ring);
  return *std::move(ring);
}

std::vector<std::string> hosts(int count) {
  std::vector<std::string> labels;
  for (int i = 1; i <= count; ++i) labels.push_back("origin" + std::to_string(i) + ":15002");
  return labels;
}

TEST_CASE("ring: the original's locations of all digests in all its rings", "[golden]") {
  const auto vectors = golden("ring.json");
  REQUIRE(vectors.at("rings").size() == 45);
  for (const auto& one : vectors.at("rings")) {
    const auto ring = ring_of(one.at("members").get<std::vector<std::string>>(),
                              one.at("max_replica").get<std::size_t>());
    const auto unhealthy = one.at("unhealthy").get<std::set<std::string>>();
    std::vector<bool> healthy;
    for (const auto& member : ring.members()) healthy.push_back(!unhealthy.contains(member));
    REQUIRE(one.at("cases").size() == 24);
    for (const auto& each : one.at("cases")) {
      const auto text = each.at("digest").get<std::string>();
      INFO(text << " among " << ring.members().size() << ", " << unhealthy.size() << " unhealthy");
      const auto digest = Digest::parse(text);
      REQUIRE(digest);
      std::vector<std::string> found;
      for (const auto member : ring.locations(RingKey::of(*digest), healthy)) {
        found.push_back(ring.members()[member]);
      }
      CHECK(found == each.at("locations").get<std::vector<std::string>>());
    }
  }
}

TEST_CASE("ring: the whole key space is in the original's order", "[golden]") {
  // kraken-formats-and-store.md, 4.3: SHA-256 of 65,536 lines "<key>:<order>\n".
  const auto ring = ring_of(hosts(3), 2);
  Digester digester;
  for (std::uint32_t key = 0; key <= 0xffff; ++key) {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string line;
    for (const int shift : {12, 8, 4, 0}) line += kDigits[key >> shift & 0xf];
    line += ':';
    for (const auto member : ring.order({static_cast<std::uint16_t>(key)})) {
      line += static_cast<char>('1' + member);
    }
    line += '\n';
    digester.update(as_byte_span(line));
  }
  CHECK(std::move(digester).finish().hex() ==
        "e42f96ab9c2f881eb9ddd2ff15091547d22617b71bc0ef1c739139b603d5e1b3");
}

TEST_CASE("ring: the order of the members given, and repetitions, make no difference") {
  auto shuffled = hosts(20);
  std::shuffle(shuffled.begin(), shuffled.end(), std::minstd_rand(1));
  shuffled.push_back(shuffled.front());
  const auto one = ring_of(hosts(20), 3);
  const auto other = ring_of(shuffled, 3);
  REQUIRE(one.members() == other.members());
  for (std::uint32_t key = 0; key <= 0xffff; key += 97) {
    const RingKey ring_key{static_cast<std::uint16_t>(key)};
    CHECK(one.order(ring_key) == other.order(ring_key));
  }
}

TEST_CASE("ring: a member that leaves moves only the keys that it owned") {
  const auto before = ring_of(hosts(10), 3);
  auto labels = hosts(10);
  labels.erase(labels.begin() + 4);
  const auto after = ring_of(labels, 3);
  std::size_t moved = 0;
  for (std::uint32_t key = 0; key <= 0xffff; ++key) {
    const RingKey ring_key{static_cast<std::uint16_t>(key)};
    std::vector<std::string> left;
    bool owned = false;
    for (const auto member : before.owners(ring_key)) {
      if (before.members()[member] == hosts(10)[4]) {
        owned = true;
      } else {
        left.push_back(before.members()[member]);
      }
    }
    std::vector<std::string> now;
    for (const auto member : after.owners(ring_key)) now.push_back(after.members()[member]);
    REQUIRE(now.size() == 3);
    now.resize(left.size());  // Who stays keeps the place; one more comes in at the end.
    if (now != left) FAIL("key " << key << " lost an owner that is still there");
    moved += owned ? 1 : 0;
  }
  CHECK(moved < 65536 * 3 / 10 * 11 / 10);
}

TEST_CASE("ring: nobody, too many and no replicas are refused") {
  const auto nobody = Ring::of({}, 3);
  REQUIRE_FALSE(nobody);
  CHECK(nobody.error().code() == Errc::invalid_argument);
  CHECK_FALSE(Ring::of(hosts(3), 0));
  CHECK_FALSE(Ring::of(hosts(1001), 3));
  CHECK(Ring::of(hosts(1000), 3));
}

TEST_CASE("ring: knows its members by their label") {
  const auto ring = ring_of(hosts(3), 2);
  CHECK(ring.has("origin2:15002"));
  CHECK_FALSE(ring.has("origin2:15003"));
}

}  // namespace
}  // namespace orlop
