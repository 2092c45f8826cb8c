#include "metadata/last_access.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/metadata/faulty_file_system.h"
#include "tests/metadata/sample_blobs.h"

namespace orlop {
namespace {

struct Opened {
  TemporaryDirectory directory;
  ManualClock clock;
  std::atomic<int> writes = 0;
  FaultyFileSystem files;
  std::unique_ptr<Catalogue> catalogue = open();

  std::unique_ptr<Catalogue> open() {
    files.on_write = [this] { ++writes; };
    return open_catalogue(
        {directory.path() / "db", &clock, files.env(), std::chrono::milliseconds(5)});
  }
  std::vector<Access> accesses() const {
    auto found = catalogue->oldest_accesses(0, std::nullopt, 1000);
    REQUIRE(found);
    return *std::move(found);
  }
};

TEST_CASE("last access: a touch moves the blob to its hour at the next flush, not before") {
  Opened db;
  LastAccess last(*db.catalogue);
  REQUIRE(commit_one(*db.catalogue, 1));
  const auto hour = db.catalogue->current_hour();
  db.clock.advance(std::chrono::hours(3));
  last.touch(sample_digest(1));
  CHECK(db.accesses() == std::vector<Access>{{hour, sample_digest(1)}});

  REQUIRE(last.flush());
  CHECK(db.accesses() == std::vector<Access>{{hour + 3, sample_digest(1)}});
}

TEST_CASE("last access: a blob is written once an hour, however often it is touched") {
  Opened db;
  LastAccess last(*db.catalogue);
  REQUIRE(commit_one(*db.catalogue, 1));
  db.clock.advance(std::chrono::hours(1));
  last.touch(sample_digest(1));
  REQUIRE(last.flush());
  const int before = db.writes;

  for (int i = 0; i < 100; ++i) last.touch(sample_digest(1));
  REQUIRE(last.flush());
  CHECK(db.writes == before);
  CHECK(last.remembered() == 1);

  db.clock.advance(std::chrono::hours(1));
  last.touch(sample_digest(1));
  REQUIRE(last.flush());
  CHECK(db.writes > before);
  CHECK(db.accesses().front().hour == db.catalogue->current_hour());
}

TEST_CASE("last access: a touch of a digest without a record leaves nothing") {
  Opened db;
  LastAccess last(*db.catalogue);
  last.touch(sample_digest(1));
  REQUIRE(last.flush());
  CHECK(db.accesses().empty());
  CHECK(fails_with(db.catalogue->blob(sample_digest(1)), Errc::not_found));
}

TEST_CASE("last access: memory is bounded, and becomes free again in the next hour") {
  Opened db;
  LastAccess last(*db.catalogue, {.digests_max = 10});
  for (int i = 0; i < 15; ++i) last.touch(sample_digest(i));
  CHECK(last.remembered() == 10);
  CHECK(last.dropped_total() == 5);
  last.touch(sample_digest(0));  // Known already: not dropped.
  CHECK(last.dropped_total() == 5);

  REQUIRE(last.flush());
  db.clock.advance(std::chrono::hours(1));
  REQUIRE(last.flush());
  CHECK(last.remembered() == 0);
  last.touch(sample_digest(14));
  CHECK(last.remembered() == 1);
}

TEST_CASE("last access: what could not be written is written by a later flush") {
  Opened db;
  LastAccess last(*db.catalogue);
  REQUIRE(commit_one(*db.catalogue, 1));
  db.clock.advance(std::chrono::hours(1));
  last.touch(sample_digest(1));

  db.files.fail_writes(true);
  CHECK(fails_with(last.flush(), Errc::busy));
  db.files.fail_writes(false);
  while (!db.catalogue->writable()) std::this_thread::yield();

  REQUIRE(last.flush());
  CHECK(db.accesses().front().hour == db.catalogue->current_hour());
}

TEST_CASE("last access: threads that touch while others flush lose nothing") {
  Opened db;
  LastAccess last(*db.catalogue);
  std::vector<int> numbers(200);
  for (int i = 0; i < 200; ++i) numbers[static_cast<std::size_t>(i)] = i;
  REQUIRE(commit_group(*db.catalogue, numbers));
  db.clock.advance(std::chrono::hours(1));

  std::vector<std::thread> threads;
  for (int part = 0; part < 4; ++part) {
    threads.emplace_back([&last, part] {
      for (int i = part * 50; i < part * 50 + 50; ++i) last.touch(sample_digest(i));
    });
  }
  for (int i = 0; i < 20; ++i) REQUIRE(last.flush());
  for (auto& thread : threads) thread.join();
  REQUIRE(last.flush());

  const auto accesses = db.accesses();
  CHECK(accesses.size() == 200);
  CHECK(accesses.front().hour == db.catalogue->current_hour());
}

}  // namespace
}  // namespace orlop
