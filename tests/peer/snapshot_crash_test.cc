// A machine that dies at each call of a save in turn, and what the next start reads.

#include <catch2/catch.hpp>
#include <optional>

#include "peer/registry_snapshots.h"
#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/peer/reference_snapshot.h"
#include "tests/store/faulty_disk.h"

namespace orlop {
namespace {

std::size_t nodes_read(Disk& disk, const std::filesystem::path& path) {
  ManualClock clock;
  Random random(2);
  PeerRegistry registry({}, clock, random);
  RegistrySnapshots snapshots(registry, disk, clock, {.path = path});
  snapshots.load();
  return registry.nodes().size();
}

TEST_CASE("snapshot file: a death at any call of a save loses no save that was acknowledged",
          "[crash]") {
  const auto crash = GENERATE(std::optional<Unsynced>(), std::optional(Unsynced::gone),
                              std::optional(Unsynced::zeroed));
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    INFO("call " << call);
    TemporaryDirectory folder;
    const auto root = folder.path() / "disk";
    std::filesystem::create_directory(root);
    const auto path = root / "peers.snapshot";
    FaultyDisk disk(root);
    ManualClock clock;
    Random random(1);
    PeerRegistry registry({}, clock, random);
    RegistrySnapshots snapshots(registry, disk, clock, {.path = path});

    // Saves of one, two, three … nodes until one dies.
    std::size_t acknowledged = 0;
    std::size_t tried = 0;
    for (std::uint32_t round = 0; round < 4; ++round) {
      REQUIRE(registry.announce(infohash_number(1), peer_number(round), true));
      if (round == 2) disk.die_at(call);
      ++tried;
      if (!snapshots.save()) break;
      acknowledged = tried;
    }
    died = disk.dead();
    if (crash) {
      disk.power_cut(*crash);
    } else {
      disk.revive();
    }

    const auto found = nodes_read(disk, path);
    CHECK(found >= acknowledged);
    CHECK(found <= tried);
    // And the next save succeeds, whatever lies about.
    PeerRegistry again({}, clock, random);
    RegistrySnapshots next(again, disk, clock, {.path = path});
    next.load();
    REQUIRE(again.announce(infohash_number(1), peer_number(77), true));
    CHECK(next.save());
    CHECK(nodes_read(disk, path) == found + 1);
  }
}

TEST_CASE("snapshot file: a save that failed is tried again although nothing changed") {
  TemporaryDirectory folder;
  const auto root = folder.path() / "disk";
  std::filesystem::create_directory(root);
  FaultyDisk disk(root);
  ManualClock clock;
  Random random(1);
  PeerRegistry registry({}, clock, random);
  RegistrySnapshots snapshots(registry, disk, clock, {.path = root / "peers.snapshot"});
  REQUIRE(registry.announce(infohash_number(1), peer_number(1), true));
  disk.die_at(3);
  CHECK(!snapshots.save());
  CHECK(snapshots.figures().failures == 1);
  disk.revive();

  const auto saved = snapshots.save();

  REQUIRE(saved);
  CHECK(*saved);
  CHECK(nodes_read(disk, root / "peers.snapshot") == 1);
}

}  // namespace
}  // namespace orlop
