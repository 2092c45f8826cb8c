#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <vector>

#include "core/digester.h"
#include "tests/origin/crash_rig.h"

namespace orlop {
namespace {

// Each test runs its story once for each call that the process makes to its disk, the database's
// included: that call fails and so do all after it. Then the machine comes back as `Crash` says,
// and a new process must keep what the old one promised.

const Crash kKilled{};
std::string label(const Crash& crash) {
  if (!crash.power_cut) return "killed";
  return std::string(*crash.power_cut == Unsynced::gone ? "bytes gone" : "bytes zeroed") +
         (crash.database_loses_unsynced ? ", database too" : ", database kept");
}

std::vector<std::string> contents(std::size_t count, const std::string& salt) {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < count; ++i) {
    all.push_back(salt + std::to_string(i) + std::string(10 + 20 * i, 'x'));
  }
  return all;
}

/// An acknowledged blob is here, and its write-back is recorded; any other is whole or absent; and
/// each can be put again.
void check_promises(CrashRig& rig, const std::vector<std::string>& blobs,
                    const std::set<Digest>& acknowledged) {
  std::vector<std::string> absent;
  for (const auto& bytes : blobs) {
    const auto found = rig.read(digest_of(bytes));
    if (acknowledged.contains(digest_of(bytes))) {
      CHECK(found);
      CHECK(rig.owes_write_back(digest_of(bytes)));
    }
    if (found) CHECK(*found == bytes);
    if (!found) absent.push_back(bytes);
  }
  CHECK(rig.put(absent).size() == absent.size());
  for (const auto& bytes : blobs) CHECK(rig.read(digest_of(bytes)) == bytes);
  CHECK(rig.usage().blobs == blobs.size());
}

TEST_CASE("crash: a death at any call of an upload and its commit breaks no promise", "[crash]") {
  const auto group_sync = GENERATE(GroupSync::syncfs, GroupSync::fsync);
  const auto crash = GENERATE(from_range(every_crash()));
  const auto blobs = contents(1, "one ");
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(label(crash), group_sync == GroupSync::fsync, call);
    CrashRig rig(group_sync, Durability::group);
    rig.die_at(call);
    const auto acknowledged = rig.put(blobs, owed());
    died = rig.dead();
    CHECK((died || acknowledged.size() == 1));

    rig.come_back(crash);
    check_promises(rig, blobs, acknowledged);
  }
}

TEST_CASE("crash: a death at any call of a group's commit breaks no promise", "[crash]") {
  const auto group_size = GENERATE(2, 16);
  const auto group_sync = GENERATE(GroupSync::syncfs, GroupSync::fsync);
  const auto crash = GENERATE(from_range(every_crash()));
  const auto before = contents(2, "before ");
  const auto blobs = contents(static_cast<std::size_t>(group_size), "group ");
  // A large group makes many calls of the same kinds: one in five of them is enough.
  const std::uint64_t stride = group_size > 2 ? 5 : 1;
  bool died = true;
  for (std::uint64_t call = 1; died; call += stride) {
    CAPTURE(label(crash), group_sync == GroupSync::fsync, group_size, call);
    CrashRig rig(group_sync, Durability::group);
    REQUIRE(rig.put(before).size() == before.size());
    std::vector<CrashRig::Pending> group;
    for (const auto& bytes : blobs) {
      auto pending = rig.upload(bytes);
      REQUIRE(pending);
      group.push_back(*std::move(pending));
    }
    rig.die_at(call);
    const auto acknowledged = rig.commit(std::move(group), owed());
    died = rig.dead();
    CHECK((died || acknowledged.size() == blobs.size()));

    rig.come_back(crash);
    for (const auto& bytes : before) CHECK(rig.read(digest_of(bytes)) == bytes);
    auto all = blobs;
    all.insert(all.end(), before.begin(), before.end());
    check_promises(rig, all, acknowledged);
  }
}

TEST_CASE("crash: a death at any call of a removal or eviction leaves the blob whole or gone",
          "[crash]") {
  const bool evict = GENERATE(false, true);
  const auto crash = GENERATE(from_range(every_crash()));
  const auto blobs = contents(2, "removed ");
  const auto victim = digest_of(blobs[0]);
  bool died = true;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(label(crash), evict, call);
    CrashRig rig(GroupSync::syncfs, Durability::group);
    CommitNote note;
    note.backed = true;
    REQUIRE(rig.put(blobs, note).size() == 2);
    rig.die_at(call);
    const bool removed = evict ? rig.evict(victim) : rig.remove(victim);
    died = rig.dead();
    CHECK((died || removed));

    rig.come_back(crash);
    const auto found = rig.read(victim);
    // Nobody is told of an eviction, so one that died half-way may be undone.
    if (removed && !(evict && died)) CHECK_FALSE(found);
    if (found) CHECK(*found == blobs[0]);
    CHECK(rig.read(digest_of(blobs[1])) == blobs[1]);
    if (!found) CHECK(rig.put({blobs[0]}).size() == 1);
    CHECK(rig.read(victim) == blobs[0]);
    CHECK(rig.usage().blobs == 2);
  }
}

TEST_CASE("crash: without syncs a kill loses nothing, and a power cut shows no wrong bytes",
          "[crash]") {
  const auto crash = GENERATE(from_range(every_crash()));
  CAPTURE(label(crash));
  const auto blobs = contents(3, "never ");
  CrashRig rig(GroupSync::syncfs, Durability::never);
  std::set<Digest> acknowledged;
  for (const auto& bytes : blobs) acknowledged.merge(rig.put({bytes}, owed()));
  REQUIRE(acknowledged.size() == blobs.size());

  rig.come_back(crash);

  if (crash.power_cut) acknowledged.clear();
  check_promises(rig, blobs, acknowledged);
}

TEST_CASE("crash: what a reader was shown survives a power cut, even without syncs", "[crash]") {
  const auto crash = GENERATE(from_range(every_crash()));
  CAPTURE(label(crash));
  const auto blobs = contents(2, "shown ");
  CrashRig rig(GroupSync::syncfs, Durability::never);
  REQUIRE(rig.put(blobs).size() == blobs.size());
  const auto shown = digest_of(blobs[0]);
  REQUIRE(rig.read(shown) == blobs[0]);  // Hashes the file, and vouches for it from now on.

  rig.come_back(crash);

  const auto found = rig.read(shown);
  if (found) CHECK(*found == blobs[0]);
}

TEST_CASE("crash: a blob that was found after a kill survives a power cut", "[crash]") {
  // The commit dies somewhere; its file may have its name already. Whoever hears "it is here" of
  // such a file may rely on it: clients take it for success.
  const auto group_sync = GENERATE(GroupSync::syncfs, GroupSync::fsync);
  const auto crash = GENERATE(from_range(every_crash()));
  const auto blobs = contents(1, "found ");
  const auto digest = digest_of(blobs[0]);
  bool died = true;
  std::size_t found_unacknowledged = 0;
  for (std::uint64_t call = 1; died; ++call) {
    CAPTURE(label(crash), group_sync == GroupSync::fsync, call);
    CrashRig rig(group_sync, Durability::group);
    rig.die_at(call);
    const bool acknowledged = !rig.put(blobs, owed()).empty();
    died = rig.dead();
    rig.come_back(kKilled);
    if (!rig.is_here(digest)) continue;
    if (!acknowledged) ++found_unacknowledged;
    const bool owes = rig.owes_write_back(digest);

    rig.come_back(crash);
    CHECK(rig.read(digest) == blobs[0]);
    CHECK(rig.owes_write_back(digest) == owes);
  }
  CHECK(found_unacknowledged > 0);
}

TEST_CASE("crash: after a clean stop nothing is hashed again", "[crash]") {
  CrashRig rig(GroupSync::syncfs, Durability::group);
  const auto blobs = contents(2, "clean ");
  REQUIRE(rig.put(blobs).size() == 2);

  rig.restart_cleanly();

  const auto reads_before = rig.bytes_read();
  for (const auto& bytes : blobs) CHECK(rig.is_here(digest_of(bytes)));
  CHECK(rig.bytes_read() == reads_before);
}

}  // namespace
}  // namespace orlop
