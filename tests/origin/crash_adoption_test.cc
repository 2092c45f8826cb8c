// A death at any call while a Kraken folder is adopted, or while a bad blob is set aside and pushed
// again. See crash_test.cc for how the stories are told.

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/digester.h"
#include "tests/origin/crash_rig.h"

namespace orlop {
namespace {

/// The two ends of what a power cut takes, and none.
const std::vector<Crash> kCrashes = {
    {},
    {.power_cut = Unsynced::gone, .database_loses_unsynced = true},
    {.power_cut = Unsynced::zeroed, .database_loses_unsynced = false},
};

TEST_CASE("crash: a death at any call of an adoption takes no blob that somebody was told of",
          "[crash]") {
  const auto crash = GENERATE(from_range(kCrashes));
  const bool sidecar = GENERATE(true, false);
  const std::string bytes = "left by a Kraken origin, which syncs nothing";
  const auto digest = digest_of(bytes);
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(sidecar, call, crash.power_cut.has_value());
    CrashRig rig(GroupSync::syncfs, Durability::group);
    rig.leave_unsynced(bytes, sidecar);
    rig.die_at(call);
    const bool told = rig.is_told(digest);
    if (told) rig.verify(digest);
    died = rig.dead();
    CHECK((died || told));

    rig.come_back(crash);
    const auto found = rig.read(digest);
    if (told) CHECK(found);
    if (found) CHECK(*found == bytes);
    if (!found) CHECK(rig.put({bytes}).size() == 1);
    CHECK(rig.read(digest) == bytes);
    CHECK(rig.usage().blobs == 1);
  }
}

TEST_CASE("crash: a blob that the indexer recorded is whole or absent after a crash", "[crash]") {
  const auto crash = GENERATE(from_range(kCrashes));
  const bool sidecar = GENERATE(true, false);
  const std::string bytes = "found behind everybody's back";
  const auto digest = digest_of(bytes);
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(sidecar, call, crash.power_cut.has_value());
    CrashRig rig(GroupSync::syncfs, Durability::group);
    rig.leave_unsynced(bytes, sidecar);
    rig.die_at(call);
    const bool indexed = rig.index(digest);
    died = rig.dead();
    CHECK((died || indexed));

    rig.come_back(crash);
    const auto found = rig.read(digest);
    if (found) CHECK(*found == bytes);
    if (!found) CHECK(rig.put({bytes}).size() == 1);
    CHECK(rig.read(digest) == bytes);
    CHECK(rig.usage().blobs == 1);
  }
}

TEST_CASE(
    "crash: a death at any call of a quarantine and the push that repairs it shows no bad byte",
    "[crash]") {
  const auto crash = GENERATE(from_range(kCrashes));
  const bool by_reader = GENERATE(true, false);
  const std::string bytes = "right when it was committed";
  const auto digest = digest_of(bytes);
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(by_reader, call, crash.power_cut.has_value());
    CrashRig rig(GroupSync::syncfs, Durability::group);
    REQUIRE(rig.put({bytes}).size() == 1);
    rig.damage(digest);
    rig.die_at(call);
    if (by_reader && rig.is_told(digest)) rig.verify(digest);
    // A commit settles what it finds, as Uploads has it.
    const bool repaired = !rig.settles_as_here(digest) && rig.put({bytes}).size() == 1;
    died = rig.dead();
    CHECK((died || repaired));

    rig.come_back(crash);
    const auto found = rig.read(digest);  // Checks that what is found hashes to its name.
    if (repaired) CHECK(found);
    if (!found) CHECK(rig.put({bytes}).size() == 1);
    CHECK(rig.read(digest) == bytes);
    CHECK(rig.usage().blobs == 1);
  }
}

}  // namespace
}  // namespace orlop
