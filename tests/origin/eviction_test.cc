#include "origin/eviction.h"

#include <catch2/catch.hpp>
#include <map>
#include <string>

#include "core/digester.h"
#include "origin/age_clock.h"
#include "origin/catalogue_journal.h"
#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBlock = 4096;  // What a small file takes where the tests run.

/// The parts of an origin that eviction is about, on a file system of 100 blocks of which a test
/// says how many others use. Time stands still until the test moves it.
struct Bench {
  explicit Bench(const EvictionOptions& eviction_options = {}, bool evict_unbacked = false)
      : removal(lookup, files, *catalogue, claims, open_blobs, pool, clock,
                {.evict_unbacked = evict_unbacked}),
        eviction(
            removal, *catalogue, last_access, pool, layout, ages, [this] { return use(); },
            eviction_options) {}

  static std::filesystem::path made(const std::filesystem::path& path) {
    std::filesystem::create_directories(path);
    return path;
  }
  std::unique_ptr<Catalogue> opened() {
    auto result = Catalogue::open({.path = directory.path() / "db", .clock = &ages});
    ORLOP_CHECK(result.has_value());
    return *std::move(result);
  }

  /// A blob of one block that came here now.
  Digest put(const std::string& bytes, bool backed = true) {
    const auto digest = digest_of(bytes);
    made(layout.blob_folder(digest));
    auto file = *disk.create(layout.blob(digest));
    ORLOP_CHECK(disk.write(file, std::as_bytes(std::span(bytes)), 0).has_value());
    const auto stat = *disk.stat(file);
    const auto metainfo = *MetaInfo::make(digest, bytes.size(), 4096, {1});
    const CommitEntry entry{
        .blob = {.size_bytes = bytes.size(),
                 .blocks = kBlock / 512,
                 .committed_at = std::chrono::system_clock::to_time_t(clock.wall()),
                 .backed = backed,
                 .fingerprint = fingerprint_of(stat)},
        .metainfo = &metainfo,
        .task = std::nullopt,
        .digest = digest};
    ORLOP_CHECK(catalogue->commit({&entry, 1}).has_value());
    return digest;
  }
  bool here(Digest digest) const { return files.stat(digest).has_value(); }

  Result<SpaceUse> use() const {
    const auto blobs = catalogue->usage()->blobs;
    return SpaceUse{.total_bytes = 100 * kBlock,
                    .free_bytes = (100 - used_by_others - blobs) * kBlock};
  }
  Eviction::Pass run() {
    const auto pass = eviction.run_due([](std::chrono::nanoseconds) { return true; });
    ORLOP_CHECK(pass.has_value());
    return *pass;
  }

  TemporaryDirectory directory;
  Layout layout{.upload_dir = made(directory.path() / "upload"),
                .cache_dir = made(directory.path() / "cache")};
  ManualClock clock;
  AgeClock ages{clock};
  WatchedDisk disk;
  PieceLengths lengths = *PieceLengths::make({{0, 4096}});
  std::unique_ptr<Catalogue> catalogue = opened();
  LastAccess last_access{*catalogue};
  DigestClaims claims;
  OpenBlobs open_blobs;
  BlobFiles files{disk, clock, layout};
  WorkerPool pool{1, 10};
  BlobSettlement settlement{disk, clock, files, *catalogue, claims, lengths, layout};
  BlobLookup lookup{settlement, claims, open_blobs, disk, clock, pool};
  Removal removal;
  std::uint64_t used_by_others = 0;
  Eviction eviction;
};

EvictionOptions marks(int high, int low) {
  EvictionOptions options;
  options.high_percent = high;
  options.low_percent = low;
  return options;
}

EvictionOptions unused_for(std::chrono::nanoseconds time) {
  EvictionOptions options;
  options.idle_max = time;
  return options;
}

TEST_CASE("eviction: below the high mark everything stays") {
  Bench bench(marks(80, 60));
  bench.used_by_others = 78;
  const auto digest = bench.put("one");
  CHECK(bench.run().blobs == 0);
  CHECK(bench.here(digest));
}

TEST_CASE("eviction: from the high mark on as many go as it takes to reach the low one") {
  Bench bench(marks(80, 60));
  std::vector<Digest> blobs;
  for (int i = 0; i < 30; ++i) {
    blobs.push_back(bench.put("blob " + std::to_string(i)));
    bench.clock.advance(1h);
  }
  bench.used_by_others = 50;

  const auto pass = bench.run();

  CHECK(pass.blobs == 20);
  CHECK(pass.bytes == 20 * kBlock);
  for (std::size_t i = 0; i < blobs.size(); ++i) {
    CAPTURE(i);
    CHECK(bench.here(blobs[i]) == (i >= 20));  // The longest unused went.
  }
  CHECK(bench.catalogue->usage()->blobs == 10);
  CHECK(bench.run().blobs == 0);
  CHECK(bench.removal.stats().evicted == 20);
  CHECK(bench.removal.stats().evicted_bytes == 20 * kBlock);
  CHECK(bench.removal.stats().deleted == 0);
}

TEST_CASE("eviction: what was used later stays longer, within one hour what came later") {
  Bench bench(marks(80, 78));
  bench.used_by_others = 76;
  const auto used_again = bench.put("used again");
  const auto unused = bench.put("unused");
  bench.clock.advance(2h);
  bench.last_access.touch(used_again);  // Not in the index yet: a pass puts it there first.
  const auto earlier = bench.put("earlier");
  bench.clock.advance(1s);
  const auto later = bench.put("later");

  CHECK(bench.run().blobs == 2);
  CHECK_FALSE(bench.here(unused));
  CHECK_FALSE(bench.here(used_again));
  CHECK(bench.here(earlier));
  bench.used_by_others = 78;
  CHECK(bench.run().blobs == 2);
  CHECK_FALSE(bench.here(earlier));
  CHECK_FALSE(bench.here(later));
}

TEST_CASE("eviction: others who make room are counted") {
  Bench bench(marks(80, 60));
  for (int i = 0; i < 40; ++i) bench.put("blob " + std::to_string(i));
  bench.used_by_others = 50;
  // After the first removals somebody else deletes a lot.
  std::uint64_t seen = 0;
  const auto pass = bench.eviction.run_due([&](std::chrono::nanoseconds) {
    if (++seen == 5) bench.used_by_others = 0;
    return true;
  });
  REQUIRE(pass);
  CHECK(pass->blobs == 16);  // When the file system was asked next.
}

TEST_CASE("eviction: a pass ends when it is told to") {
  Bench bench(marks(80, 60));
  for (int i = 0; i < 40; ++i) bench.put("blob " + std::to_string(i));
  bench.used_by_others = 50;
  const auto pass = bench.eviction.run_due([](std::chrono::nanoseconds) { return false; });
  REQUIRE(pass);
  CHECK(pass->blobs == 1);
}

TEST_CASE("eviction: the only copy, a task, a pin, a reader and a claim each keep a blob") {
  Bench bench(marks(10, 5));
  bench.used_by_others = 50;
  const auto free_to_go = bench.put("free to go");
  const auto unbacked = bench.put("unbacked", /*backed=*/false);
  const auto owed = bench.put("owed");
  REQUIRE(bench.catalogue->add_task(
      {.kind = TaskKind::write_back, .digest = owed, .name_space = "team/app", .created_at = 1}));
  const auto read = bench.put("read");
  auto reader = bench.open_blobs.pin(read);
  const auto claimed = bench.put("claimed");
  auto claim = bench.claims.try_claim(claimed);
  const auto pinned = bench.put("pinned");
  auto record = *bench.catalogue->blob(pinned);
  record.pinned = true;
  const CommitEntry entry{
      .blob = record, .metainfo = nullptr, .task = std::nullopt, .digest = pinned};
  REQUIRE(bench.catalogue->commit({&entry, 1}));

  CHECK(bench.run().blobs == 1);

  CHECK_FALSE(bench.here(free_to_go));
  for (const auto& kept : {unbacked, owed, read, claimed, pinned}) CHECK(bench.here(kept));

  // What has become free is found within the hour.
  reader = {};
  claim.reset();
  bench.clock.advance(61min);
  CHECK(bench.run().blobs == 2);
  CHECK_FALSE(bench.here(read));
  CHECK_FALSE(bench.here(claimed));
  for (const auto& kept : {unbacked, owed, pinned}) CHECK(bench.here(kept));
}

TEST_CASE("eviction: with evict_unbacked the only copy goes too") {
  Bench bench(marks(10, 5), /*evict_unbacked=*/true);
  bench.used_by_others = 50;
  const auto unbacked = bench.put("unbacked", /*backed=*/false);
  CHECK(bench.run().blobs == 1);
  CHECK_FALSE(bench.here(unbacked));
}

TEST_CASE("eviction: what has to stay is looked at once an hour, and not in each pass") {
  Bench bench(marks(10, 5));
  bench.used_by_others = 50;
  for (int i = 0; i < 20; ++i) bench.put("stays " + std::to_string(i), /*backed=*/false);
  bench.clock.advance(2h);
  const auto goes = bench.put("goes");

  CHECK(bench.run().examined == 21);
  CHECK_FALSE(bench.here(goes));
  bench.put("goes too");
  CHECK(bench.run().examined == 1);
  bench.clock.advance(1h);
  CHECK(bench.run().examined == 20);
}

TEST_CASE("eviction: a blob that cannot be removed does not stand in the way of the others") {
  Bench bench(marks(10, 5));
  bench.used_by_others = 50;
  const auto stuck = bench.put("stuck");
  bench.clock.advance(1h);
  const auto free_to_go = bench.put("free to go");
  bench.disk.refuse("remove_file", EIO, stuck.hex());

  const auto pass = bench.run();

  CHECK(pass.blobs == 1);
  CHECK(pass.failed == 1);
  CHECK(bench.here(stuck));
  CHECK_FALSE(bench.here(free_to_go));
}

TEST_CASE("eviction: by time only at each interval") {
  auto options = unused_for(2h);
  options.interval = 30min;
  Bench bench(options);
  const auto digest = bench.put("one");
  CHECK(bench.run().examined == 0);
  bench.clock.advance(5h);
  CHECK(bench.run().blobs == 1);
  CHECK_FALSE(bench.here(digest));
  bench.put("two");
  bench.clock.advance(29min);
  CHECK(bench.run().examined == 0);
}

TEST_CASE("eviction: an unused blob goes after its time, late rather than early") {
  auto options = unused_for(2h);
  options.interval = 1ns;
  Bench bench(options);
  bench.run();
  const auto used = bench.put("used");
  const auto unused = bench.put("unused");
  const auto only_copy = bench.put("only copy", /*backed=*/false);

  bench.clock.advance(2h);
  bench.run();
  CHECK(bench.here(unused));
  bench.last_access.touch(used);
  bench.clock.advance(1h);
  bench.run();
  CHECK_FALSE(bench.here(unused));
  CHECK(bench.here(used));
  CHECK(bench.here(only_copy));
  bench.clock.advance(2h);
  bench.run();
  CHECK_FALSE(bench.here(used));
  CHECK(bench.here(only_copy));
}

TEST_CASE("eviction: an old blob goes however much it is used") {
  EvictionOptions options;
  options.age_max = 3h;
  options.interval = 1ns;
  Bench bench(options);
  bench.run();
  const auto old = bench.put("old");
  bench.clock.advance(2h);
  const auto young = bench.put("young");
  bench.last_access.touch(old);
  bench.clock.advance(1h);
  bench.last_access.touch(old);
  bench.run();
  CHECK(bench.here(old));
  bench.clock.advance(1h);
  bench.last_access.touch(old);
  bench.run();
  CHECK_FALSE(bench.here(old));
  CHECK(bench.here(young));
}

TEST_CASE("eviction: without a low mark a full disk shortens the age that blobs may reach") {
  EvictionOptions options;
  options.high_percent = 80;
  options.age_max_when_full = 1h;
  options.interval = 1ns;
  Bench bench(options);
  bench.run();
  const auto old = bench.put("old");
  bench.clock.advance(2h);
  const auto young = bench.put("young");

  bench.run();
  CHECK(bench.here(old));
  bench.used_by_others = 79;
  bench.clock.advance(1s);  // The next interval.
  bench.run();
  CHECK_FALSE(bench.here(old));
  CHECK(bench.here(young));
}

TEST_CASE("eviction: a step of the wall clock makes no blob older or younger") {
  const auto step = GENERATE(24h * 365, -24h * 365);
  auto options = unused_for(2h);
  options.interval = 1ns;
  Bench bench(options);
  bench.run();
  const auto before = bench.put("before the step");
  bench.clock.step_wall(step);
  const auto after = bench.put("after the step");

  bench.run();
  CHECK(bench.here(before));
  CHECK(bench.here(after));
  bench.clock.advance(3h);
  bench.run();
  CHECK_FALSE(bench.here(before));
  CHECK_FALSE(bench.here(after));
}

TEST_CASE("age clock: it goes on where it was, whatever the calendar says") {
  ManualClock clock;
  AgeClock ages(clock);
  const auto begun = ages.wall();
  CHECK(begun == clock.wall());
  clock.advance(90min);
  CHECK(ages.wall() == begun + 90min);
  clock.step_wall(1000h);
  CHECK(ages.wall() == begun + 90min);

  AgeClock next(clock);
  next.resume_at(begun + 90min);
  clock.advance(1h);
  CHECK(next.wall() == begun + 150min);
}

TEST_CASE("open blobs: a blob is open until its last reader is gone") {
  OpenBlobs blobs;
  const auto digest = digest_of("x");
  CHECK_FALSE(blobs.is_open(digest));
  {
    auto first = blobs.pin(digest);
    {
      const auto second = blobs.pin(digest);
      CHECK(blobs.count() == 1);
    }
    CHECK(blobs.is_open(digest));
    const OpenBlobs::Pin moved(std::move(first));
    CHECK(blobs.is_open(digest));
  }
  CHECK_FALSE(blobs.is_open(digest));
  CHECK(blobs.count() == 0);
}

}  // namespace
}  // namespace orlop
