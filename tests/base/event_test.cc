#include "base/event.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>

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

}  // namespace
}  // namespace orlop
