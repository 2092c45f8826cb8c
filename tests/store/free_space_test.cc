#include "store/free_space.h"

#include <catch2/catch.hpp>
#include <limits>
#include <memory>
#include <thread>
#include <vector>

#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

// The file system of the tests is used by others too, so sizes differ from what they were by this.
constexpr std::uint64_t kSlack = std::uint64_t{2} << 30;
constexpr std::uint64_t kMiB = 1 << 20;

/// A file system on which half of what is free now has to stay free. The clock stands still, so it
/// is asked once.
struct HalfFree {
  TemporaryDirectory directory;
  ManualClock clock;
  std::uint64_t half = space_use(directory.path())->free_bytes / 2;
  FreeSpace space{directory.path(), clock, half};

  HalfFree() { REQUIRE(half > 2 * kSlack); }
};

TEST_CASE("free space: promises what leaves the floor free, and is busy for more") {
  HalfFree disk;
  Reservation reservation;

  CHECK(disk.space.reserve(reservation, 0));
  CHECK(disk.space.reserve(reservation, disk.half - kSlack));
  const auto refused = disk.space.reserve(reservation, disk.half + kSlack);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::busy);
  CHECK(refused.error().detail().find("store.free_bytes_min") != std::string::npos);
  CHECK_FALSE(disk.space.reserve(reservation, std::numeric_limits<std::uint64_t>::max()));
  CHECK(reservation.bytes() == disk.half - kSlack);
}

TEST_CASE("free space: what is promised to one upload is not promised to another") {
  HalfFree disk;
  Reservation first;
  REQUIRE(disk.space.reserve(first, disk.half - kSlack));

  Reservation second;
  CHECK_FALSE(disk.space.reserve(second, 2 * kSlack));
  CHECK(second.bytes() == 0);
  CHECK(disk.space.reserved_bytes() == disk.half - kSlack);

  first.release();
  CHECK(disk.space.reserve(second, 2 * kSlack));
  CHECK(disk.space.reserved_bytes() == 2 * kSlack);
}

TEST_CASE("free space: a reservation that ends gives back what it held") {
  HalfFree disk;
  {
    Reservation reservation;
    REQUIRE(disk.space.reserve(reservation, 100));
    Reservation moved(std::move(reservation));
    CHECK(moved.bytes() == 100);
    CHECK(disk.space.reserved_bytes() == 100);
    Reservation target;
    REQUIRE(disk.space.reserve(target, 7));
    target = std::move(moved);
    CHECK(disk.space.reserved_bytes() == 100);
  }
  CHECK(disk.space.reserved_bytes() == 0);
}

TEST_CASE("free space: bytes that were written are counted once, as used") {
  HalfFree disk;
  Reservation first;
  REQUIRE(disk.space.reserve(first, disk.half - 2 * kSlack));
  first.written(disk.half - 3 * kSlack);
  CHECK(first.bytes() == kSlack);

  // The file system was not asked again, but the bytes are gone all the same.
  Reservation second;
  CHECK_FALSE(disk.space.reserve(second, 3 * kSlack));
  CHECK(disk.space.reserve(second, kSlack));

  // More than was promised uses up free space, and nobody else's promise.
  first.written(2 * kSlack);
  CHECK(first.bytes() == 0);
  CHECK(disk.space.reserved_bytes() == second.bytes());
}

TEST_CASE("free space: bytes of unknown number are covered 8 MiB at a time") {
  HalfFree disk;
  Reservation reservation;
  CHECK(reservation.cover(100 * kMiB));  // Of no file system: nothing to refuse.
  CHECK(reservation.bytes() == 0);

  REQUIRE(disk.space.reserve(reservation, 0));
  REQUIRE(reservation.cover(1));
  CHECK(reservation.bytes() == 8 * kMiB);
  reservation.written(8 * kMiB - 1);
  REQUIRE(reservation.cover(1));
  CHECK(reservation.bytes() == 1);
  REQUIRE(reservation.cover(9 * kMiB));
  CHECK(reservation.bytes() == 9 * kMiB);
}

TEST_CASE("free space: each refusal is counted once, and what is tried in vain on the way is not") {
  HalfFree disk;
  Reservation most;
  REQUIRE(disk.space.reserve(most, 0));
  Reservation little;
  REQUIRE(disk.space.reserve(little, 0));
  CHECK(disk.space.refused() == 0);
  // Not a whole step, but what is needed now.
  most.written(disk.half - 6 * kMiB);
  CHECK(little.cover(kMiB));
  CHECK(little.bytes() == kMiB);
  CHECK(disk.space.refused() == 0);

  CHECK_FALSE(little.cover(kSlack));
  CHECK(disk.space.refused() == 1);
  CHECK_FALSE(disk.space.reserve(little, kSlack));
  CHECK(disk.space.refused() == 2);
}

TEST_CASE("free space: below the floor not even nothing is promised") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  FreeSpace space(directory.path(), clock, std::numeric_limits<std::uint64_t>::max());
  Reservation reservation;
  CHECK_FALSE(space.reserve(reservation, 0));
}

TEST_CASE("free space: what was promised is kept while others are refused") {
  HalfFree disk;
  Reservation first;
  REQUIRE(disk.space.reserve(first, disk.half - kSlack));
  Reservation stranger;
  REQUIRE(disk.space.reserve(stranger, 0));
  stranger.written(2 * kSlack);  // As if somebody else had filled the disk.

  Reservation second;
  CHECK_FALSE(disk.space.reserve(second, 1));
  CHECK(disk.space.reserve(first, disk.half - 2 * kSlack));
  CHECK_FALSE(disk.space.reserve(first, disk.half));
}

TEST_CASE("free space: without a configured floor 256 MiB stay free, or a tenth of a small disk") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  const auto use = *space_use(directory.path());
  FreeSpace space(directory.path(), clock, std::nullopt);
  CHECK(space.floor_bytes() == 0);

  Reservation reservation;
  CHECK(space.reserve(reservation, 0));
  CHECK_FALSE(space.reserve(reservation, use.free_bytes + kSlack));
  CHECK(space.floor_bytes() == std::min<std::uint64_t>(256 << 20, use.total_bytes / 10));
}

TEST_CASE("free space: the file system is asked again after a quarter of a second") {
  TemporaryDirectory directory;
  ManualClock clock;
  const auto folder = directory.path() / "store";
  std::filesystem::create_directory(folder);
  FreeSpace space(folder, clock, 0);
  Reservation reservation;
  REQUIRE(space.reserve(reservation, 0));
  std::filesystem::remove(folder);

  clock.advance(249ms);
  CHECK(space.reserve(reservation, 0));  // By the answer it has.
  clock.advance(1ms);
  CHECK_FALSE(space.reserve(reservation, 0));
}

TEST_CASE("free space: nothing is refused by an old answer") {
  HalfFree disk;
  Reservation gone;
  REQUIRE(disk.space.reserve(gone, 0));
  gone.written(disk.half);  // And deleted again: the file system is as it was.

  Reservation reservation;
  CHECK_FALSE(disk.space.reserve(reservation, kSlack));
  disk.clock.advance(10ms);
  CHECK(disk.space.reserve(reservation, kSlack));
}

TEST_CASE("free space: what cannot be asked promises nothing, however often it is tried") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  FreeSpace space(directory.path() / "absent", clock, 0);
  Reservation reservation;

  CHECK_FALSE(space.reserve(reservation, 0));
  CHECK_FALSE(space.reserve(reservation, 0));
}

TEST_CASE("free space: many uploads at once are never promised more than there is") {
  HalfFree disk;
  std::vector<std::unique_ptr<Reservation>> reservations;
  for (int i = 0; i < 8; ++i) reservations.push_back(std::make_unique<Reservation>());
  const auto share = (disk.half + kSlack) / 8;
  {
    std::vector<std::jthread> threads;
    for (auto& reservation : reservations) {
      threads.emplace_back([&space = disk.space, &reservation, share] {
        (void)space.reserve(*reservation, share);  // Not all can succeed.
      });
    }
  }
  CHECK(disk.space.reserved_bytes() <= disk.half + kSlack / 2);
  CHECK(disk.space.reserved_bytes() >= 6 * share);
  CHECK(disk.space.reserved_bytes() % share == 0);
  reservations.clear();
  CHECK(disk.space.reserved_bytes() == 0);
}

TEST_CASE("space use: the percentage is rounded up, and never above 100") {
  CHECK(SpaceUse{.total_bytes = 0, .free_bytes = 0}.used_percent() == 0);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 1000}.used_percent() == 0);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 999}.used_percent() == 1);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 500}.used_percent() == 50);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 499}.used_percent() == 51);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 0}.used_percent() == 100);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 2000}.used_percent() == 0);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 300}.used_bytes() == 700);
  for (int bits = 40; bits < 64; ++bits) {
    CAPTURE(bits);
    const auto total = std::uint64_t{1} << bits;
    CHECK(SpaceUse{.total_bytes = total, .free_bytes = 0}.used_percent() == 100);
    CHECK(SpaceUse{.total_bytes = total, .free_bytes = total / 2}.used_percent() == 50);
  }
}

}  // namespace
}  // namespace orlop
