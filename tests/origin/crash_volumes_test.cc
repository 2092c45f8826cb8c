#include <catch2/catch.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/digester.h"
#include "tests/origin/crash_rig.h"

namespace orlop {
namespace {

// As in crash_test.cc, on two disks: a group's blobs are on both, the database is on one.

bool on_the_volume(const std::string& bytes) { return digest_of(bytes).bytes()[0] < 16; }

/// So many blobs on each disk.
std::vector<std::string> blobs_on(std::size_t home, std::size_t volume) {
  std::vector<std::string> blobs;
  for (int i = 0; home + volume > 0; ++i) {
    auto bytes = std::to_string(i) + " on either disk";
    auto& wanted = on_the_volume(bytes) ? volume : home;
    if (wanted == 0) continue;
    --wanted;
    blobs.push_back(std::move(bytes));
  }
  return blobs;
}

TEST_CASE("crash: a death at any call of a commit over two disks breaks no promise", "[crash]") {
  const auto group_sync = GENERATE(GroupSync::syncfs, GroupSync::fsync);
  const auto blobs = GENERATE(blobs_on(1, 1), blobs_on(0, 1));
  const auto crash = GENERATE(from_range(every_crash()));
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(crash.power_cut.has_value(), crash.database_loses_unsynced, blobs.size(), call);
    CrashRig rig(group_sync, Durability::group, CrashRig::Disks::two);
    rig.die_at(call);
    const auto acknowledged = rig.put(blobs, owed());
    died = rig.dead();
    CHECK((died || acknowledged.size() == blobs.size()));

    rig.come_back(crash);

    for (const auto& bytes : blobs) {
      const auto found = rig.read(digest_of(bytes));
      if (found) CHECK(*found == bytes);
      if (!acknowledged.contains(digest_of(bytes))) continue;
      CHECK(found);
      CHECK(rig.owes_write_back(digest_of(bytes)));
    }
  }
}

}  // namespace
}  // namespace orlop
