#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "core/digester.h"
#include "tests/origin/crash_rig.h"

namespace orlop {
namespace {

// As in crash_test.cc: once for each call to the disk or the database, at which the process dies.

TEST_CASE("crash: a death at any call of a scrub that finds rot loses no evidence and no good blob",
          "[crash]") {
  const std::size_t crash = GENERATE(0U, 1U, 2U, 3U, 4U);
  const std::string good = "a good blob";
  const std::string right = "a blob that rots";
  const std::string rotten = "a blob that Rots";
  const auto victim = digest_of(right);
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(crash, call);
    CrashRig rig(GroupSync::syncfs, Durability::group);
    REQUIRE(rig.put({right}).size() == 1);
    REQUIRE(rig.put({good}).size() == 1);
    rig.rot(victim, rotten);
    rig.die_at(call);
    const bool whole = rig.scrub();
    died = rig.dead();
    CHECK((died || whole));

    rig.come_back(every_crash()[crash]);
    if (whole) CHECK_FALSE(rig.is_here(victim));
    CHECK(rig.scrub());
    CHECK_FALSE(rig.read(victim));
    CHECK(rig.evidence(victim) == std::vector<std::string>{rotten});
    CHECK(rig.read(digest_of(good)) == good);

    CHECK(rig.put({right}).size() == 1);
    CHECK(rig.read(victim) == right);
    CHECK(rig.evidence(victim) == std::vector<std::string>{rotten});
    CHECK(rig.usage().blobs == 2);
  }
}

TEST_CASE("crash: a death at any call of a push that repairs a quarantined blob breaks no promise",
          "[crash]") {
  const std::size_t crash = GENERATE(0U, 1U, 2U, 3U, 4U);
  const std::string right = "a blob that rots";
  const std::string rotten = "a blob that Rots";
  const auto victim = digest_of(right);
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(crash, call);
    CrashRig rig(GroupSync::syncfs, Durability::group);
    REQUIRE(rig.put({right}).size() == 1);
    rig.rot(victim, rotten);
    REQUIRE(rig.scrub());
    rig.die_at(call);
    const bool acknowledged = rig.put({right}).size() == 1;
    died = rig.dead();
    CHECK((died || acknowledged));

    rig.come_back(every_crash()[crash]);
    const auto found = rig.read(victim);
    if (acknowledged) CHECK(found);
    if (found) CHECK(*found == right);
    if (!found) CHECK(rig.put({right}).size() == 1);
    CHECK(rig.read(victim) == right);
    // After a power cut the bytes of the push may be evidence too.
    REQUIRE_FALSE(rig.evidence(victim).empty());
    CHECK(rig.evidence(victim).front() == rotten);
  }
}

}  // namespace
}  // namespace orlop
