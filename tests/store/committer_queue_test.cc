#include <catch2/catch.hpp>
#include <chrono>
#include <thread>

#include "tests/store/committer_bench.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;
using Sizes = std::vector<std::size_t>;
using Futures = std::vector<std::future<CommitOutcome>>;

bool all_committed(Futures& futures) {
  bool all = true;
  for (auto& future : futures) all = !future.get() && all;
  return all;
}

/// Submits so many uploads while the first of them is being recorded.
Futures submit_behind_one(CommitterBench& bench, int waiting) {
  bench.journal.block();
  Futures futures;
  futures.push_back(bench.submit(bench.request("first")));
  bench.journal.wait_for_records(1);
  for (int i = 0; i < waiting; ++i) {
    futures.push_back(bench.submit(bench.request("waiting " + std::to_string(i))));
  }
  return futures;
}

TEST_CASE("committer: commits that wait together are recorded and synced together") {
  CommitterBench bench;
  auto futures = submit_behind_one(bench, 5);
  CHECK(bench.committer->queued() == 5);

  bench.journal.release();

  CHECK(all_committed(futures));
  CHECK(bench.journal.group_sizes() == Sizes{1, 5});
  CHECK(bench.log.count("sync_filesystem") == 2);
}

TEST_CASE("committer: nobody is answered before the group is recorded") {
  CommitterBench bench;
  auto futures = submit_behind_one(bench, 1);
  for (auto& future : futures) CHECK(future.wait_for(20ms) == std::future_status::timeout);
  bench.journal.release();
  CHECK(all_committed(futures));
}

TEST_CASE("committer: a group has at most group_max commits, the oldest first") {
  CommitterBench bench({.group_max = 2});
  auto futures = submit_behind_one(bench, 5);

  bench.journal.release();

  CHECK(all_committed(futures));
  CHECK(bench.journal.group_sizes() == Sizes{1, 2, 2, 1});
  CHECK(bench.journal.groups()[1][0].digest == digest_of("waiting 0"));
  CHECK(bench.journal.groups()[3][0].digest == digest_of("waiting 4"));
}

TEST_CASE("committer: with durability always each commit is a group of its own") {
  CommitterBench bench({.durability = Durability::always});
  auto futures = submit_behind_one(bench, 3);

  bench.journal.release();

  CHECK(all_committed(futures));
  CHECK(bench.journal.group_sizes() == Sizes{1, 1, 1, 1});
  CHECK(bench.log.count("sync_filesystem") == 4);
}

TEST_CASE("committer: one more than the queue holds is busy at once, and its upload stays") {
  CommitterBench bench({.queue_max = 2});
  auto futures = submit_behind_one(bench, 2);

  const auto request = bench.request("too many");
  auto refused = bench.submit(request);

  REQUIRE(refused.wait_for(0s) == std::future_status::ready);
  const auto outcome = refused.get();
  REQUIRE(failed_as(outcome, CommitFailure::upload_kept));
  CHECK(outcome->error.code() == Errc::busy);
  CHECK(bench.upload_is_there(request));
  bench.journal.release();
  CHECK(all_committed(futures));
  CHECK_FALSE(bench.submit(request).get());
}

TEST_CASE("committer: it counts groups, syncs, waits and refusals, and knows what waits how long") {
  CommitterBench bench({.queue_max = 3});
  auto futures = submit_behind_one(bench, 3);
  CHECK(bench.submit(bench.request("too many")).get());
  std::this_thread::sleep_for(2ms);
  const auto during = bench.committer->stats();
  CHECK(during.waiting == 3);
  CHECK(during.waiting_max == 3);
  CHECK(during.oldest_waits >= 2ms);
  CHECK(during.group_running >= 2ms);
  CHECK(during.refused == 1);
  CHECK(during.group_size.count() == 0);

  bench.journal.release();
  CHECK(all_committed(futures));

  const auto after = bench.committer->stats();
  CHECK(after.waiting == 0);
  CHECK(after.oldest_waits == 0ns);
  CHECK(after.group_size.count() == 2);
  CHECK(after.group_size.sum == 4);
  CHECK(after.group_took.count() == 2);
  CHECK(after.group_took.sum >= 2'000'000);
  CHECK(after.synced.count() == 2);
  CHECK(after.waited.count() == 4);
  CHECK(after.failed == 0);
}

TEST_CASE("committer: a commit that fails is counted as failed") {
  CommitterBench bench;
  bench.journal.fail_record(Error(Errc::busy, "the journal is full"));
  CHECK(bench.submit(bench.request("fails")).get());
  CHECK(bench.committer->stats().failed == 1);
}

TEST_CASE("committer: its destructor answers what waits") {
  CommitterBench bench({.group_max = 2});
  auto futures = submit_behind_one(bench, 5);

  std::jthread releasing([&] {
    // Nothing tells when the destructor has begun. If it has not, the test asks less.
    std::this_thread::sleep_for(50ms);
    bench.journal.release();
  });
  bench.committer.reset();

  for (auto& future : futures) CHECK(future.wait_for(0s) == std::future_status::ready);
  CHECK(all_committed(futures));
}

TEST_CASE("committer: from many threads at once, each is answered once and committed once") {
  CommitterBench bench({.group_max = 7, .queue_max = 10'000});
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  std::vector<CommitRequest> requests;
  for (int i = 0; i < kThreads * kEach; ++i) {
    requests.push_back(bench.request("blob " + std::to_string(i)));
  }
  std::vector<Futures> futures(kThreads);

  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = 0; i < kEach; ++i) {
          futures[t].push_back(bench.submit(requests[t * kEach + i]));
        }
      });
    }
  }

  for (auto& some : futures) CHECK(all_committed(some));
  std::size_t recorded = 0;
  for (const auto size : bench.journal.group_sizes()) {
    CHECK(size <= 7);
    recorded += size;
  }
  CHECK(recorded == requests.size());
  for (const auto& request : requests) CHECK(bench.blob(request).has_value());
}

}  // namespace
}  // namespace orlop
