#include "server/storage_watch.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <semaphore>

namespace orlop {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

StorageFigures blobs(std::uint64_t count) {
  StorageFigures figures;
  figures.blobs = count;
  return figures;
}

TEST_CASE(
    "storage watch: whoever looks gets an answer that was given since, and nobody else asks") {
  std::atomic<std::uint64_t> asked = 0;
  StorageWatch watch([&] { return blobs(++asked); });
  CHECK(asked == 0);
  for (std::uint64_t i = 1; i <= 3; ++i) {
    const auto seen = watch.look(seconds(10));
    REQUIRE(seen);
    CHECK(seen->figures.blobs == i);
    CHECK(asked == i);
  }
}

TEST_CASE("storage watch: while the disk hangs there is the last answer, which grows old") {
  std::binary_semaphore answer(1);
  std::atomic<std::uint64_t> asked = 0;
  StorageWatch watch([&] {
    answer.acquire();
    return blobs(++asked);
  });
  REQUIRE(watch.look(seconds(10)));
  const auto seen = watch.look(milliseconds(20));
  REQUIRE(seen);
  CHECK(seen->figures.blobs == 1);
  CHECK(seen->age >= milliseconds(20));
  answer.release();  // For the question that hangs.
}

TEST_CASE("storage watch: a disk that never answered gives nothing, and the looker goes on") {
  std::binary_semaphore answer(0);
  StorageWatch watch([&] {
    answer.acquire();
    return blobs(1);
  });
  CHECK_FALSE(watch.look(milliseconds(5)));
  answer.release();
}

}  // namespace
}  // namespace orlop
