#include "origin/pacer.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <ctime>
#include <thread>

namespace orlop {
namespace {

using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;

/// Takes so much processor time of this thread.
void work(milliseconds time) {
  const auto worked = [] {
    timespec now = {};
    REQUIRE(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
  };
  const auto until = worked() + time;
  while (worked() < until) {
  }
}

TEST_CASE("pacer: work at a quarter of a core takes four times as long") {
  Pacer pacer(0.25);
  REQUIRE(pacer.pause());
  const auto begun = Steady::now();

  for (int i = 0; i < 10; ++i) {
    work(milliseconds(4));
    REQUIRE(pacer.pause());
  }

  CHECK(Steady::now() - begun >= milliseconds(155));
}

TEST_CASE("pacer: time spent waiting is not saved up for a burst") {
  Pacer pacer(0.25);
  REQUIRE(pacer.pause());
  std::this_thread::sleep_for(milliseconds(200));
  REQUIRE(pacer.pause());
  const auto begun = Steady::now();

  work(milliseconds(20));
  REQUIRE(pacer.pause());

  CHECK(Steady::now() - begun >= milliseconds(78));
}

TEST_CASE("pacer: stop ends a sleep, and no other begins") {
  Pacer pacer(0.0001);
  REQUIRE(pacer.pause());
  work(milliseconds(10));  // Asks for a sleep of 100 s.
  std::jthread stopper([&] { pacer.stop(); });
  const auto begun = Steady::now();

  CHECK_FALSE(pacer.pause());
  CHECK_FALSE(pacer.wait(milliseconds(100'000)));
  CHECK(Steady::now() - begun < std::chrono::seconds(50));
}

}  // namespace
}  // namespace orlop
