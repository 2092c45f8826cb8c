#include <atomic>
#include <catch2/catch.hpp>
#include <cerrno>
#include <thread>

#include "metadata/catalogue.h"
#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/metadata/faulty_file_system.h"
#include "tests/metadata/sample_blobs.h"

namespace orlop {
namespace {

struct Opened {
  TemporaryDirectory directory;
  ManualClock clock;
  FaultyFileSystem files;
  std::unique_ptr<Catalogue> catalogue =
      open_catalogue({directory.path() / "db", &clock, files.env(), std::chrono::milliseconds(5)});

  /// Waits for the guard. A test that hangs here has found a database that does not recover.
  void wait_until_writable() const {
    while (!catalogue->writable()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
};

TEST_CASE("catalogue: on a full or failing disk writes are busy, and it recovers by itself") {
  const int error_number = GENERATE(ENOSPC, EIO);
  CAPTURE(error_number);
  Opened db;
  REQUIRE(commit_one(*db.catalogue, 1));

  db.files.fail_writes(true, error_number);
  CHECK(fails_with(commit_one(*db.catalogue, 2), Errc::busy));

  // Every call that writes says so, and reads go on.
  const auto refused = db.catalogue->remove(sample_digest(1));
  REQUIRE(fails_with(refused, Errc::busy));
  CHECK(refused.error().detail().starts_with("metadata store cannot write: "));
  CHECK(refused.error().detail().ends_with("; reopening"));
  CHECK(fails_with(db.catalogue->add_task({TaskKind::replicate, sample_digest(1), "", {}, 0}),
                   Errc::busy));
  CHECK(fails_with(db.catalogue->renew_fingerprint(sample_digest(1), {}), Errc::busy));
  CHECK(fails_with(db.catalogue->put_metainfo(sample_metainfo(sample_digest(1))), Errc::busy));
  CHECK(fails_with(db.catalogue->sync(), Errc::busy));
  CHECK(fails_with(db.catalogue->writable(), Errc::busy));
  REQUIRE(db.catalogue->fault());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // Some attempts of the guard.
  CHECK(db.catalogue->fault());
  CHECK(db.catalogue->blob(sample_digest(1)));

  db.files.fail_writes(false);
  db.wait_until_writable();

  CHECK_FALSE(db.catalogue->fault());
  CHECK(db.catalogue->blob(sample_digest(1)));
  CHECK(commit_one(*db.catalogue, 2));
  CHECK(commit_one(*db.catalogue, 3));
  const auto usage = db.catalogue->usage();
  REQUIRE(usage);
  CHECK(*usage == Usage{3, 24});
}

TEST_CASE("catalogue: a failed sync is a failed write") {
  Opened db;
  REQUIRE(commit_one(*db.catalogue, 1));
  db.files.fail_writes(true, EIO);
  CHECK(fails_with(db.catalogue->sync(), Errc::busy));
  CHECK(db.catalogue->fault());
  db.files.fail_writes(false);
  db.wait_until_writable();
  CHECK(db.catalogue->sync());
}

TEST_CASE("catalogue: a database that opens but cannot be written is read, and not written") {
  Opened db;
  REQUIRE(commit_one(*db.catalogue, 1));
  db.files.fail_writes(true, EIO, ".log");
  REQUIRE(fails_with(commit_one(*db.catalogue, 2), Errc::busy));

  bool served = false;
  for (int i = 0; i < 200; ++i) {  // While the guard opens it some times, to no avail.
    REQUIRE(db.catalogue->fault());
    served = served || db.catalogue->blob(sample_digest(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  CHECK(served);

  db.files.fail_writes(false);
  db.wait_until_writable();
  CHECK(commit_one(*db.catalogue, 2));
}

TEST_CASE("catalogue: faults that come and go under load lose nothing that was acknowledged") {
  Opened db;
  std::atomic<bool> stop = false;
  std::thread weather([&] {
    for (int i = 0; !stop; ++i) {
      db.files.fail_writes(i % 2 == 0, i % 4 == 0 ? ENOSPC : EIO);
      std::this_thread::sleep_for(std::chrono::milliseconds(i % 2 == 0 ? 3 : 25));
    }
    db.files.fail_writes(false);
  });
  std::thread reader([&] {
    while (!stop) {
      const auto blob = db.catalogue->blob(sample_digest(0));
      if (!blob && blob.error().code() == Errc::corrupt) std::abort();
    }
  });

  std::vector<int> acknowledged;
  int refused = 0;
  for (int number = 0; number < 3000 && (number < 300 || refused < 20); ++number) {
    if (commit_one(*db.catalogue, number)) {
      acknowledged.push_back(number);
    } else {
      ++refused;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  stop = true;
  weather.join();
  reader.join();
  db.wait_until_writable();

  CHECK(refused > 0);
  for (const int number : acknowledged) REQUIRE(db.catalogue->blob(sample_digest(number)));
  // What failed may be there or not, but then with all that belongs to it.
  const auto blobs = db.catalogue->list(std::nullopt, 10'000);
  REQUIRE(blobs);
  CHECK(*db.catalogue->usage() == Usage{blobs->size(), 8 * blobs->size()});
  CHECK((*db.catalogue->oldest_accesses(0, std::nullopt, 10'000)).size() == blobs->size());
  for (const auto& [digest, blob] : *blobs) REQUIRE(db.catalogue->metainfo(digest));
}

TEST_CASE("catalogue: it can be closed while nothing can be written") {
  Opened db;
  REQUIRE(commit_one(*db.catalogue, 1));
  db.files.fail_writes(true);
  CHECK_FALSE(commit_one(*db.catalogue, 2));
  CHECK(fails_with(db.catalogue->close_cleanly(), Errc::busy));
  db.catalogue.reset();

  db.files.fail_writes(false);
  db.catalogue = open_catalogue({db.directory.path() / "db", &db.clock, db.files.env()});
  CHECK(db.catalogue->blob(sample_digest(1)));
}

TEST_CASE("catalogue: a disk that fails at the opening is an error, not a guard") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  FaultyFileSystem files;
  files.fail_writes(true);
  CHECK(fails_with(Catalogue::open({directory.path() / "db", &clock, files.env()}), Errc::busy));
}

}  // namespace
}  // namespace orlop
