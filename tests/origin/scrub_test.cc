#include "origin/scrub.h"

#include <catch2/catch.hpp>
#include <cerrno>
#include <thread>
#include <vector>

#include "tests/origin/scrub_bench.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kStep = HashSteps::kStepBytes;

/// Whether a pass went to its end.
bool passes(Scrub& scrub) {
  const auto whole = scrub.pass();
  return whole && *whole;
}

TEST_CASE("scrub: a pass over right blobs counts them and changes nothing") {
  ScrubBench bench;
  const auto one = bench.put("one");
  bench.put(std::string(3 * kStep, 'x'));
  bench.put("");
  const auto before = bench.catalogue->blob(one);
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  const auto progress = bench.progress();
  CHECK(progress.blobs == 3);
  CHECK(progress.bytes == 3 + 3 * kStep);
  CHECK(progress.bad == 0);
  CHECK(progress.skipped == 0);
  CHECK(progress.finished_at);
  CHECK(*bench.catalogue->blob(one) == *before);
  CHECK(bench.files.quarantined() == 0);
}

TEST_CASE("scrub: rot that leaves the fingerprint alone is found and set aside") {
  ScrubBench bench;
  const auto good = bench.put("good");
  const auto bad = bench.put("bad blob");
  bench.rot(bad, "bad blub");
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK(bench.progress().bad == 1);
  CHECK(bench.progress().blobs == 1);
  const auto figures = scrub.figures();
  CHECK(figures.on);
  CHECK(figures.finished);
  CHECK(figures.done == 1.0);
  CHECK(figures.bad == 1);
  CHECK(figures.blobs == 1);
  CHECK(figures.bytes == 4);
  CHECK(bench.files.quarantined() == 1);
  CHECK_FALSE(bench.recorded(bad));
  CHECK_FALSE(bench.files.open(bad));
  CHECK(bench.recorded(good));
  CHECK((*bench.catalogue->usage()).blobs == 1);
}

TEST_CASE("scrub: a blob without a fingerprint is made durable and gets one") {
  ScrubBench bench;
  const auto digest = bench.put("suspect");
  REQUIRE(bench.catalogue->drop_fingerprint(digest));
  bench.disk.log().clear();
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK(bench.catalogue->blob(digest)->fingerprint);
  CHECK(bench.disk.log().count("sync_data") == 1);
  CHECK(bench.disk.log().count("sync_directory") == 4);
}

TEST_CASE("scrub: sums that are not those of the right bytes are mended") {
  ScrubBench bench;
  const auto digest = bench.put("blob");
  const auto right = bench.catalogue->metainfo(digest);
  REQUIRE(bench.catalogue->put_metainfo(*MetaInfo::make(digest, 4, 1 << 20, {1})));
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK(bench.catalogue->metainfo(digest)->json() == right->json());
}

TEST_CASE("scrub: a blob whose file is gone is forgotten, and counted as bad") {
  ScrubBench bench;
  const auto digest = bench.put("gone");
  std::filesystem::remove(bench.folder.layout.blob(digest));
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK_FALSE(bench.recorded(digest));
  CHECK(bench.progress().bad == 1);
}

TEST_CASE("scrub: a file that changes while it is read is left to the next pass") {
  ScrubBench bench;
  const auto digest = bench.put(std::string(3 * kStep, 'x'));
  bench.stop.on_wait = [&] {
    std::ofstream(bench.folder.layout.blob(digest), std::ios::app) << "more";
  };
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK(bench.progress().skipped == 1);
  CHECK(bench.progress().bad == 0);
  CHECK(bench.recorded(digest));
}

TEST_CASE("scrub: a file that is replaced while it is read is neither vouched for nor set aside") {
  ScrubBench bench;
  const auto digest = bench.put(std::string(3 * kStep, 'x'));
  bench.stop.on_wait = [&] { bench.rot(digest, std::string(3 * kStep, 'y')); };
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK(bench.progress().skipped == 1);
  CHECK(bench.files.quarantined() == 0);
}

TEST_CASE("scrub: a blob that somebody is changing is not judged, but no longer trusted") {
  ScrubBench bench;
  const auto digest = bench.put("blob");
  bench.rot(digest, "blub");
  const auto claim = bench.claims.try_claim(digest);
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK(bench.progress().skipped == 1);
  CHECK(bench.files.quarantined() == 0);
  CHECK_FALSE(bench.catalogue->blob(digest)->fingerprint);
}

TEST_CASE("scrub: a blob that cannot be read does not end the pass, and stays") {
  ScrubBench bench;
  const auto broken = bench.put("broken");
  bench.put("whole");
  bench.disk.refuse("read", EIO, broken.hex());
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK(bench.progress().skipped == 1);
  CHECK(bench.progress().blobs == 1);
  CHECK(bench.recorded(broken));
}

TEST_CASE("scrub: it keeps to the least speed when there is little to read") {
  ScrubBench bench;
  bench.put(std::string(8 * kStep, 'x'));
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  // 8 MiB at 4 MiB a second; the last step is paid for by what comes next.
  CHECK(bench.stop.waited >= 1700ms);
  CHECK(bench.stop.waited <= 2300ms);
}

TEST_CASE("scrub: it is as fast as the period demands, but not faster than it may be") {
  ScrubBench bench;
  bench.options = {.period = 1s, .bytes_per_second_max = 8 * kStep};
  bench.put(std::string(16 * kStep, 'x'));
  auto scrub = bench.scrub();

  CHECK(passes(scrub));

  CHECK(bench.stop.waited >= 1700ms);
  CHECK(bench.stop.waited <= 2300ms);
}

TEST_CASE("scrub: stopped in the middle of a blob it returns at once, and goes on with that blob") {
  ScrubBench bench;
  std::vector<Digest> digests;
  for (const char fill : {'a', 'b', 'c', 'd'}) {
    digests.push_back(bench.put(std::string(2 * kStep, fill)));
  }
  std::sort(digests.begin(), digests.end());
  bench.stop.on_wait = [&] {
    if (bench.stop.waited > 900ms) bench.stop.stop();
  };
  {
    auto first = bench.scrub();
    const auto whole = first.pass();
    REQUIRE(whole);
    REQUIRE_FALSE(*whole);
  }
  const auto half = bench.progress();
  REQUIRE(half.blobs > 0);
  REQUIRE(half.blobs < 4);
  CHECK(half.cursor == digests[half.blobs - 1]);
  CHECK_FALSE(half.finished_at);
  CHECK(bench.stop.waited < 1500ms);

  ManualStop stop(bench.clock);
  Scrub second(bench.disk, bench.clock, *bench.catalogue, bench.files, bench.settlement,
               bench.claims, bench.lengths, stop, bench.options);
  CHECK(*second.due_in() == 0s);
  CHECK(passes(second));

  CHECK(bench.progress().blobs == 4);
  CHECK(bench.progress().started_at == half.started_at);
}

TEST_CASE("scrub: the next pass is due one period after the last began, however the clock is set") {
  ScrubBench bench;
  bench.put("blob");
  auto scrub = bench.scrub();
  CHECK(*scrub.due_in() == 0s);

  REQUIRE(scrub.pass());

  CHECK(*scrub.due_in() <= bench.options.period);
  CHECK(*scrub.due_in() > bench.options.period - 1min);
  bench.clock.advance(bench.options.period);
  CHECK(*scrub.due_in() == 0s);
  bench.clock.advance(-24h * 400);
  CHECK(*scrub.due_in() == bench.options.period);
}

TEST_CASE("scrub: with a period of 0 it does nothing") {
  ScrubBench bench;
  bench.options.period = 0s;
  auto scrub = bench.scrub();

  scrub.run();

  CHECK_FALSE(bench.catalogue->scrub()->has_value());
  CHECK(scrub.status() == "scrub: off");
}

TEST_CASE("scrub: its thread ends within a second, also in the middle of a blob") {
  ScrubBench bench;
  bench.put(std::string(16 * kStep, 'x'));
  bench.disk.log().clear();
  StopSignal stop;
  SystemClock clock;
  Scrub scrub(bench.disk, clock, *bench.catalogue, bench.files, bench.settlement, bench.claims,
              bench.lengths, stop, bench.options);
  std::thread thread([&] { scrub.run(); });
  while (bench.disk.log().count("read") < 8) std::this_thread::sleep_for(1ms);

  const auto asked = std::chrono::steady_clock::now();
  stop.stop();
  thread.join();

  CHECK(std::chrono::steady_clock::now() - asked < 1s);
  CHECK(bench.progress().blobs == 0);
}

}  // namespace
}  // namespace orlop
