#include "base/event.h"

#include <catch2/catch.hpp>
#include <thread>

#include "base/async.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

TEST_CASE("event: wakes everyone who waits, on whatever reactor") {
  asio::io_context first;
  asio::io_context second;
  const auto event = std::make_shared<Event>();
  std::atomic<int> woken = 0;
  const auto waiter = [&]() -> Task<> {
    if (co_await event->wait_for(10s)) ++woken;
  };
  for (int i = 0; i < 3; ++i) {
    asio::co_spawn(first, waiter(), rethrow);
    asio::co_spawn(second, waiter(), rethrow);
  }

  std::jthread other([&] { second.run(); });
  std::jthread setter([&] { event->set(); });
  first.run();
  other.join();

  CHECK(woken == 6);
}

TEST_CASE("event: says when the limit passed first") {
  asio::io_context io;
  Event event;
  bool set = true;
  auto waiter = [&]() -> Task<> { set = co_await event.wait_for(1ms); };
  asio::co_spawn(io, waiter(), rethrow);

  io.run();

  CHECK_FALSE(set);
}

TEST_CASE("run_on: works elsewhere and resumes here") {
  asio::io_context io;
  asio::thread_pool pool(2);
  std::thread::id worked;
  std::thread::id resumed;
  const auto here = std::this_thread::get_id();
  auto job = [&]() -> Task<> {
    const auto sum = co_await run_on(pool, [&] {
      worked = std::this_thread::get_id();
      return 42;
    });
    CHECK(sum == 42);
    resumed = std::this_thread::get_id();
  };
  asio::co_spawn(io, job(), rethrow);
  // run() would return while only the pool has work: reactors hold a guard for this reason.
  auto guard = asio::make_work_guard(io);
  while (resumed == std::thread::id()) io.run_one();

  CHECK(worked != here);
  CHECK(resumed == here);
}

}  // namespace
}  // namespace orlop
