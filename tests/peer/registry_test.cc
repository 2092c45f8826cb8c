#include "peer/registry.h"

#include <catch2/catch.hpp>

#include "peer/registry_facts.h"
#include "peer/registry_snapshots.h"
#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/peer/reference_snapshot.h"

namespace orlop {
namespace {

using std::chrono::hours;
using std::chrono::seconds;

TEST_CASE("registry: who gets a blob is told who has it, who has it is told nobody") {
  ManualClock clock;
  Random random(1);
  PeerRegistry registry({}, clock, random);

  const auto seeding = registry.announce(infohash_number(1), peer_number(1), true);
  const auto loading = registry.announce(infohash_number(1), peer_number(2), false);
  const auto other = registry.announce(infohash_number(2), peer_number(3), false);

  REQUIRE(seeding);
  CHECK(seeding->peers.empty());
  REQUIRE(loading);
  CHECK(loading->peers.size() == 2);  // Itself too: agents skip it.
  REQUIRE(other);
  CHECK(other->peers.size() == 1);
}

TEST_CASE("registry: a full registry hands out peers all the same and says that it is full") {
  ManualClock clock;
  Random random(1);
  PeerRegistry registry({.nodes_max = 1}, clock, random);
  REQUIRE(registry.announce(infohash_number(1), peer_number(1), true));

  const auto answer = registry.announce(infohash_number(1), peer_number(2), false);

  REQUIRE(answer);
  CHECK(answer->peers.size() == 1);
  REQUIRE(!answer->recorded);
  CHECK(answer->recorded.error().code() == Errc::busy);
}

TEST_CASE("registry: a step of the wall clock forgets nobody, the time that passes does") {
  ManualClock clock;
  Random random(1);
  PeerRegistry registry({.ttl = 3600, .seen_grain = 60}, clock, random);
  REQUIRE(registry.announce(infohash_number(1), peer_number(1), true));

  clock.step_wall(hours(1000));
  CHECK(registry.expire().nodes == 0);
  clock.step_wall(-hours(2000));
  CHECK(registry.expire().pairs == 0);
  clock.advance(seconds(3661));
  const auto expired = registry.expire();
  CHECK(expired.nodes == 1);
  CHECK(expired.pairs == 1);
}

TEST_CASE("registry: a new one that reads the snapshot knows the same") {
  TemporaryDirectory folder;
  ManualClock clock;
  Random random(1);
  PosixDisk disk;
  const RegistrySnapshotsOptions options{.path = folder.path() / "peers.snapshot"};
  PeerRegistry before({}, clock, random);
  for (std::uint32_t i = 0; i < 500; ++i) {
    auto peer = peer_number(i);
    peer.zone = "zone \"1\"\n";
    if (i % 7 == 0) peer.tags = {{"\\", "\xf0\x9f\x98\x80"}, {"rack", std::to_string(i)}};
    peer.origin = i % 11 == 0;
    REQUIRE(before.announce(infohash_number(i % 50), peer, i % 3 == 0));
  }
  RegistrySnapshots saving(before, disk, clock, options);
  REQUIRE(saving.save());
  const auto bytes = saving.current();

  PeerRegistry after({}, clock, random);
  RegistrySnapshots loading(after, disk, clock, options);
  const auto said = loading.load();

  INFO(said);
  CHECK(after.nodes().size() == 500);
  CHECK(after.pairs().size() == 500);
  for (std::uint32_t i = 0; i < 500; ++i) {
    const auto was = before.nodes().find(peer_number(i).id);
    const auto is = after.nodes().find(peer_number(i).id);
    REQUIRE(is);
    CHECK(reference_json(*is) == reference_json(*was));
  }
  const auto answer = after.announce(infohash_number(3), peer_number(3), false);
  REQUIRE(answer);
  CHECK(answer->peers.size() == 10);
}

TEST_CASE("registry: what is not as it was written is refused, and the generation before is read") {
  TemporaryDirectory folder;
  ManualClock clock;
  Random random(1);
  PosixDisk disk;
  const auto path = folder.path() / "peers.snapshot";
  PeerRegistry registry({}, clock, random);
  RegistrySnapshots saving(registry, disk, clock, {.path = path});
  REQUIRE(registry.announce(infohash_number(1), peer_number(1), true));
  REQUIRE(saving.save());
  REQUIRE(registry.announce(infohash_number(1), peer_number(2), true));
  REQUIRE(saving.save());
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);

  PeerRegistry after({}, clock, random);
  RegistrySnapshots loading(after, disk, clock, {.path = path});
  const auto said = loading.load();

  INFO(said);
  CHECK(said.find("snapshot refused: snapshot: cut") != std::string::npos);
  CHECK(after.nodes().size() == 1);
  // Or the next save would put the broken one in the place of the good one.
  CHECK(std::filesystem::exists(path.string() + ".refused"));
  CHECK(!std::filesystem::exists(path));
}

TEST_CASE("registry: nothing changed is nothing written") {
  TemporaryDirectory folder;
  ManualClock clock;
  Random random(1);
  PosixDisk disk;
  PeerRegistry registry({.seen_grain = 60}, clock, random);
  RegistrySnapshots saving(registry, disk, clock, {.path = folder.path() / "peers.snapshot"});
  REQUIRE(registry.announce(infohash_number(1), peer_number(1), true));
  auto first = saving.save();
  REQUIRE(first);
  CHECK(*first);

  clock.advance(seconds(30));
  REQUIRE(registry.announce(infohash_number(1), peer_number(1), true));
  auto second = saving.save();
  REQUIRE(second);
  CHECK(!*second);
  CHECK(saving.figures().saves == 1);

  // What was encoded for somebody else is still to be written.
  REQUIRE(registry.announce(infohash_number(1), peer_number(2), true));
  saving.current();
  auto third = saving.save();
  REQUIRE(third);
  CHECK(*third);
}

TEST_CASE("registry: a node whose time is over is not taken from a snapshot") {
  ManualClock clock;
  Random random(1);
  PeerRegistry registry({.ttl = 3600}, clock, random);
  const auto now = registry.now();
  RegistryFacts facts;
  facts.nodes.push_back(
      {.seen = peer_number(1), .first_seen = now - 9000, .last_seen = now - 3600});
  facts.nodes.push_back({.seen = peer_number(2), .first_seen = now, .last_seen = now - 3599});
  facts.nodes.push_back({.seen = peer_number(3), .first_seen = now, .last_seen = now + 9000});
  facts.pairs.push_back({infohash_number(1), peer_number(1).id, true});
  facts.pairs.push_back({infohash_number(1), peer_number(2).id, true});

  restore(registry, std::move(facts));

  CHECK(registry.nodes().size() == 2);
  CHECK(registry.pairs().size() == 1);
  CHECK(registry.nodes().find(peer_number(3).id)->last_seen == now);
}

}  // namespace
}  // namespace orlop
