#include "store/free_space.h"

#include <catch2/catch.hpp>
#include <limits>

#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

// The file system of the tests is used by others too, so sizes differ from what they were by this.
constexpr std::uint64_t kSlack = std::uint64_t{4} << 30;

TEST_CASE("free space: admits what leaves the floor free, and is busy for more") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  const auto free = space_use(directory.path())->free_bytes;
  REQUIRE(free > 4 * kSlack);
  FreeSpace space(directory.path(), clock, free / 2);

  CHECK(space.admit(0));
  CHECK(space.admit(free / 2 - kSlack));
  const auto refused = space.admit(free / 2 + kSlack);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::busy);
  CHECK(refused.error().detail().find("store.free_bytes_min") != std::string::npos);
  CHECK_FALSE(space.admit(std::numeric_limits<std::uint64_t>::max()));
}

TEST_CASE("free space: below the floor not even nothing is admitted") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  FreeSpace space(directory.path(), clock, std::numeric_limits<std::uint64_t>::max());
  CHECK_FALSE(space.admit(0));
}

TEST_CASE("free space: without a configured floor 256 MiB stay free, or a tenth of a small disk") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  const auto use = *space_use(directory.path());
  FreeSpace space(directory.path(), clock, std::nullopt);

  CHECK(space.admit(0));
  const auto refused = space.admit(use.free_bytes + kSlack);
  REQUIRE_FALSE(refused);
  const auto floor = std::min<std::uint64_t>(256 << 20, use.total_bytes / 10);
  CHECK(refused.error().detail().find(std::to_string(floor) + " must stay free") !=
        std::string::npos);
}

TEST_CASE("free space: the file system is asked again after a quarter of a second") {
  TemporaryDirectory directory;
  ManualClock clock;
  const auto folder = directory.path() / "store";
  std::filesystem::create_directory(folder);
  FreeSpace space(folder, clock, 0);
  REQUIRE(space.admit(0));
  std::filesystem::remove(folder);

  clock.advance(249ms);
  CHECK(space.admit(0));  // By the answer it has.
  clock.advance(1ms);
  CHECK_FALSE(space.admit(0));
}

TEST_CASE("free space: what cannot be asked admits nothing, however often it is tried") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  FreeSpace space(directory.path() / "absent", clock, 0);

  CHECK_FALSE(space.admit(0));
  CHECK_FALSE(space.admit(0));
}

TEST_CASE("space use: the percentage is rounded up, and never above 100") {
  CHECK(SpaceUse{.total_bytes = 0, .free_bytes = 0}.used_percent() == 0);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 1000}.used_percent() == 0);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 999}.used_percent() == 1);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 500}.used_percent() == 50);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 499}.used_percent() == 51);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 0}.used_percent() == 100);
  CHECK(SpaceUse{.total_bytes = 1000, .free_bytes = 2000}.used_percent() == 0);
  for (int bits = 40; bits < 64; ++bits) {
    CAPTURE(bits);
    const auto total = std::uint64_t{1} << bits;
    CHECK(SpaceUse{.total_bytes = total, .free_bytes = 0}.used_percent() == 100);
    CHECK(SpaceUse{.total_bytes = total, .free_bytes = total / 2}.used_percent() == 50);
  }
}

}  // namespace
}  // namespace orlop
