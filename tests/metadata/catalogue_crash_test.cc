#include <catch2/catch.hpp>
#include <mutex>
#include <thread>

#include "metadata/catalogue.h"
#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/metadata/faulty_file_system.h"
#include "tests/metadata/sample_blobs.h"

namespace orlop {
namespace {

struct Machine {
  TemporaryDirectory directory;
  ManualClock clock;

  CatalogueOptions options(FaultyFileSystem& files) {
    return {directory.path() / "db", &clock, files.env(), std::chrono::milliseconds(5)};
  }
  /// A process of its own: opened, handed to `work`, and gone.
  template <class Work>
  void process(Work work) {
    FaultyFileSystem files;
    const auto catalogue = open_catalogue(options(files));
    work(*catalogue);
  }
};

TEST_CASE("catalogue: after a crash the blobs of the last group are suspects, and no others",
          "[crash]") {
  Machine machine;
  machine.process([](Catalogue& catalogue) {
    REQUIRE(commit_group(catalogue, {1, 2}));
    REQUIRE(commit_group(catalogue, {3, 4}));
    CHECK(has_fingerprint(catalogue, 3));
  });
  machine.process([](Catalogue& catalogue) {
    CHECK(has_fingerprint(catalogue, 1));
    CHECK(has_fingerprint(catalogue, 2));
    CHECK_FALSE(has_fingerprint(catalogue, 3));
    CHECK_FALSE(has_fingerprint(catalogue, 4));
    CHECK((*catalogue.usage()).blobs == 4);
    REQUIRE(catalogue.renew_fingerprint(sample_digest(3), sample_fingerprint(3)));
    // Ends well, but had no group: what it read may still be in the page cache alone.
    REQUIRE(catalogue.close_cleanly());
  });
  machine.process([](Catalogue& catalogue) {
    CHECK_FALSE(has_fingerprint(catalogue, 3));
    REQUIRE(catalogue.renew_fingerprint(sample_digest(3), sample_fingerprint(3)));
    REQUIRE(commit_group(catalogue, {5}));  // Durable, and all before it.
    REQUIRE(catalogue.close_cleanly());
  });
  machine.process([](Catalogue& catalogue) {
    CHECK(has_fingerprint(catalogue, 3));
    CHECK(has_fingerprint(catalogue, 5));
  });
}

TEST_CASE("catalogue: each committer has a last group of its own", "[crash]") {
  Machine machine;
  machine.process([](Catalogue& catalogue) {
    REQUIRE(commit_group(catalogue, {1}, 0));
    REQUIRE(commit_group(catalogue, {2}, 1));
    REQUIRE(commit_group(catalogue, {3}, 1));
    REQUIRE(commit_group(catalogue, {4}, 1'000'000));
  });
  machine.process([](Catalogue& catalogue) {
    CHECK_FALSE(has_fingerprint(catalogue, 1));
    CHECK(has_fingerprint(catalogue, 2));
    CHECK_FALSE(has_fingerprint(catalogue, 3));
    CHECK_FALSE(has_fingerprint(catalogue, 4));
  });
}

TEST_CASE("catalogue: a removed suspect is no trouble at the next start", "[crash]") {
  Machine machine;
  machine.process([](Catalogue& catalogue) {
    REQUIRE(commit_group(catalogue, {1, 2}));
    REQUIRE(catalogue.remove(sample_digest(1)));
  });
  machine.process([](Catalogue& catalogue) {
    CHECK(fails_with(catalogue.blob(sample_digest(1)), Errc::not_found));
    CHECK_FALSE(has_fingerprint(catalogue, 2));
  });
}

TEST_CASE("catalogue: the blobs of a failed group stay suspects beside the next group", "[crash]") {
  Machine machine;
  {
    FaultyFileSystem files;
    const auto catalogue = open_catalogue(machine.options(files));
    REQUIRE(commit_group(*catalogue, {1}));
    // The batch reaches the log in whole, and the failure is heard of only behind it.
    files.fail_writes(true, EIO);
    REQUIRE_FALSE(commit_group(*catalogue, {2}));
    files.fail_writes(false);
    while (!catalogue->writable()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const CommitEntry as_if_logged{sample_blob(2), nullptr, std::nullopt, sample_digest(2)};
    REQUIRE(catalogue->commit({&as_if_logged, 1}, 7));
    REQUIRE(commit_group(*catalogue, {8}, 7));  // So that committer 7 does not name it.
    REQUIRE(commit_group(*catalogue, {3}));
  }
  machine.process([](Catalogue& catalogue) {
    CHECK(has_fingerprint(catalogue, 1));
    CHECK_FALSE(has_fingerprint(catalogue, 2));
    CHECK_FALSE(has_fingerprint(catalogue, 3));
  });
}

/// What a machine does to its catalogue, with a sync after each step, so that all that was said to
/// be done must be there afterwards. True for as long as every step succeeds.
bool live(Catalogue& catalogue, int& steps_done) {
  const auto step = [&](const Result<>& result) {
    if (result) ++steps_done;
    return result.has_value();
  };
  if (!step(commit_group(catalogue, {1, 2}))) return false;
  if (!step(catalogue.sync())) return false;
  if (!step(catalogue.add_task({TaskKind::replicate, sample_digest(1), "a", {}, 0}))) return false;
  if (!step(catalogue.put_metainfo(*MetaInfo::make(sample_digest(2), 8, 8, {5})))) return false;
  if (!step(catalogue.remove(sample_digest(1)))) return false;
  if (!step(catalogue.sync())) return false;
  if (!step(commit_group(catalogue, {3}))) return false;
  return step(catalogue.close_cleanly());
}

// The life above, once for each write and sync under it: the process dies there. Then the power
// goes, or not, and a new process opens the catalogue.
TEST_CASE("catalogue: a death at any write breaks no promise", "[crash]") {
  const bool power_cut = GENERATE(false, true);
  bool died = true;
  for (int fatal_call = 1; died; ++fatal_call) {
    CAPTURE(power_cut, fatal_call);
    Machine machine;
    int steps_done = 0;
    {
      FaultyFileSystem files;
      int calls = 0;
      std::mutex mutex;  // RocksDB writes on threads of its own too.
      files.on_write = [&] {
        const std::lock_guard lock(mutex);
        if (++calls == fatal_call) files.die();
      };
      if (auto opened = Catalogue::open(machine.options(files))) live(**opened, steps_done);
      died = files.dead();
      if (power_cut) files.power_cut();
    }
    CAPTURE(steps_done);
    CHECK((steps_done == 8) == !died);

    FaultyFileSystem files;
    const auto catalogue = open_catalogue(machine.options(files));

    // Without a power cut a step counts when it is done, with one when the sync behind it is.
    const auto done = [&](int step, int sync) { return steps_done >= (power_cut ? sync : step); };
    const auto first = catalogue->blob(sample_digest(1));
    const auto second = catalogue->blob(sample_digest(2));
    if (done(1, 2)) CHECK(second);
    if (done(1, 2) && steps_done < 4) CHECK(first);
    if (done(5, 6)) CHECK_FALSE(first);
    if (done(3, 3) && first) CHECK((*catalogue->tasks(sample_digest(1))).size() == 1);
    if (done(4, 4)) CHECK((*catalogue->metainfo(sample_digest(2))).piece_length() == 8);
    if (done(7, 8)) CHECK(catalogue->blob(sample_digest(3)));
    if (steps_done == 8) CHECK(has_fingerprint(*catalogue, 3));

    // Whatever is there is there as a whole.
    CHECK(second.has_value() >= first.has_value());
    const auto blobs = catalogue->list(std::nullopt, 10);
    REQUIRE(blobs);
    CHECK(*catalogue->usage() == Usage{blobs->size(), 8 * blobs->size()});
    CHECK((*catalogue->oldest_accesses(0, std::nullopt, 10)).size() == blobs->size());
    for (const auto& [digest, blob] : *blobs) CHECK(catalogue->metainfo(digest));
    if (!first && done(5, 6)) CHECK((*catalogue->tasks(sample_digest(1))).empty());
    CHECK(commit_one(*catalogue, 9));
  }
}

TEST_CASE("catalogue: what a syncfs covers survives a power cut without a sync of ours",
          "[crash]") {
  Machine machine;
  {
    FaultyFileSystem files;
    {
      const auto catalogue = open_catalogue(machine.options(files));
      REQUIRE(commit_group(*catalogue, {1}));
      files.mark_all_synced();
      REQUIRE(commit_group(*catalogue, {2}));
      files.die();
    }
    files.power_cut();
  }
  machine.process([](Catalogue& catalogue) {
    CHECK(catalogue.blob(sample_digest(1)));
    CHECK(fails_with(catalogue.blob(sample_digest(2)), Errc::not_found));
    CHECK(*catalogue.usage() == Usage{1, 8});
  });
}

}  // namespace
}  // namespace orlop
