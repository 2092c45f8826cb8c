#include "base/worker_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <latch>
#include <thread>

namespace orlop {
namespace {

TEST_CASE("worker pool: works elsewhere and resumes on the caller's reactor") {
  asio::io_context io;
  WorkerPool pool(2, 10);
  std::thread::id worked;
  std::thread::id resumed;
  int sum = 0;
  const auto here = std::this_thread::get_id();
  auto job = [&]() -> Task<> {
    const auto result = co_await pool.run([&]() -> Result<int> {
      worked = std::this_thread::get_id();
      return 42;
    });
    sum = result ? *result : 0;
    resumed = std::this_thread::get_id();
  };
  asio::co_spawn(io, job(), rethrow);
  const auto guard = asio::make_work_guard(io);  // run_one() waits while only the pool has work.
  while (resumed == std::thread::id()) io.run_one();

  CHECK(sum == 42);
  CHECK(worked != here);
  CHECK(resumed == here);
}

TEST_CASE("worker pool: refuses work when its queue is full, and recovers") {
  asio::io_context io;
  WorkerPool pool(1, 1);
  std::latch release(1);
  pool.post([&] { release.wait(); });
  std::optional<Errc> refused;
  bool later = false;
  auto job = [&]() -> Task<> {
    const auto full = co_await pool.run([]() -> Result<> { return {}; });
    if (!full) refused = full.error().code();
    release.count_down();
    while (pool.queued() > 0) std::this_thread::yield();
    later = (co_await pool.run([]() -> Result<> { return {}; })).has_value();
    io.stop();
  };
  asio::co_spawn(io, job(), rethrow);
  const auto guard = asio::make_work_guard(io);
  io.run();

  CHECK(refused == Errc::busy);
  CHECK(later);
}

TEST_CASE("worker pool: it knows what runs, what waits how long, and what it refused") {
  asio::io_context io;
  WorkerPool pool(2, 4);
  std::latch begun(2);
  std::latch release(1);
  for (int i = 0; i < 2; ++i) {
    pool.post([&] {
      begun.count_down();
      release.wait();
    });
  }
  begun.wait();
  CHECK(pool.stats().running == 2);
  CHECK(pool.stats().waiting == 0);
  CHECK(pool.stats().stalled == std::chrono::nanoseconds(0));
  for (int i = 0; i < 2; ++i) pool.post([] {});
  auto refused = [&]() -> Task<> { (void)co_await pool.run([]() -> Result<> { return {}; }); };
  asio::co_spawn(io, refused(), rethrow);
  io.run();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  const auto during = pool.stats();
  CHECK(during.running == 2);
  CHECK(during.waiting == 2);
  CHECK(during.waiting_max == 2);
  CHECK(during.refused == 1);
  CHECK(during.stalled >= std::chrono::milliseconds(2));
  CHECK(during.waited.count() == 2);

  release.count_down();
  while (pool.queued() > 0) std::this_thread::yield();
  CHECK(pool.stats().waited.count() == 4);
  CHECK(pool.stats().waited.sum >= 4'000'000);
}

}  // namespace
}  // namespace orlop
