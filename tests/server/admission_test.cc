#include "server/admission.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace orlop {
namespace {

constexpr ConcurrencyLimits kTwo{.reads_max = 2, .writes_max = 2, .operations_max = 2};

TEST_CASE("admission: a class takes as many as its limit, and then says which key limits it") {
  const auto [route_class, key] = GENERATE(table<RouteClass, std::string>({
      {RouteClass::read, "server.reads_max"},
      {RouteClass::write, "server.writes_max"},
      {RouteClass::operate, "server.operations_max"},
  }));
  Admission admission(kTwo);

  const auto first = admission.enter(route_class);
  const auto second = admission.enter(route_class);
  const auto third = admission.enter(route_class);

  CHECK(first.has_value());
  CHECK(second.has_value());
  REQUIRE_FALSE(third.has_value());
  CHECK(third.error().code() == Errc::busy);
  CHECK_THAT(third.error().detail(), Catch::Contains(key));
  CHECK(admission.running(route_class) == 2);
}

TEST_CASE("admission: a full class takes nothing from the others, and probes are never refused") {
  Admission admission(kTwo);
  const auto first = admission.enter(RouteClass::write);
  const auto second = admission.enter(RouteClass::write);

  REQUIRE_FALSE(admission.enter(RouteClass::write).has_value());
  CHECK(admission.enter(RouteClass::read).has_value());
  CHECK(admission.enter(RouteClass::operate).has_value());
  std::vector<Admission::Slot> probes;
  for (int i = 0; i < 100; ++i) {
    auto probe = admission.enter(RouteClass::probe);
    REQUIRE(probe.has_value());
    probes.push_back(*std::move(probe));
  }
}

TEST_CASE("admission: a place is free again as soon as its slot is gone, and only once") {
  Admission admission(kTwo);
  auto first = admission.enter(RouteClass::read);
  auto second = admission.enter(RouteClass::read);
  REQUIRE_FALSE(admission.enter(RouteClass::read).has_value());

  Admission::Slot moved = *std::move(first);
  CHECK(admission.running(RouteClass::read) == 2);
  moved.release();
  moved.release();
  CHECK(admission.running(RouteClass::read) == 1);
  {
    const auto third = admission.enter(RouteClass::read);
    CHECK(third.has_value());
    CHECK_FALSE(admission.enter(RouteClass::read).has_value());
  }
  CHECK(admission.running(RouteClass::read) == 1);
  *second = Admission::Slot();
  CHECK(admission.running(RouteClass::read) == 0);
}

TEST_CASE("admission: with many threads at the door there are never more inside than the limit") {
  constexpr std::size_t kLimit = 3;
  Admission admission({.reads_max = kLimit, .writes_max = 1, .operations_max = 1});
  std::atomic<std::size_t> inside = 0;
  std::atomic<std::size_t> most = 0;
  std::atomic<std::size_t> entered = 0;

  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 2000; ++round) {
        const auto slot = admission.enter(RouteClass::read);
        if (!slot) continue;
        const auto now = ++inside;
        auto before = most.load();
        while (before < now && !most.compare_exchange_weak(before, now)) continue;
        ++entered;
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (auto& thread : threads) thread.join();

  CHECK(most <= kLimit);
  CHECK(entered > 0);
  CHECK(admission.running(RouteClass::read) == 0);
}

}  // namespace
}  // namespace orlop
