#include "server/reactor_counts.h"

#include <catch2/catch.hpp>
#include <set>

namespace orlop {
namespace {

using std::chrono::milliseconds;

std::size_t of(RouteClass route_class) { return static_cast<std::size_t>(route_class); }

std::size_t place_of(unsigned status) {
  for (std::size_t i = 0; i < kStatusCounts; ++i) {
    if (status_name(i) == std::to_string(status)) return i;
  }
  return kStatusCounts - 1;
}

TEST_CASE("reactor counts: a request is counted once, at its class, its status and its duration") {
  ReactorCounts counts;
  counts.answered(RouteClass::read, 206, milliseconds(2), true);
  const auto read = counts.read();
  std::uint64_t all = 0;
  for (const auto& of_class : read.classes) {
    for (const auto count : of_class.answered) all += count;
  }
  CHECK(all == 1);
  const auto& reads = read.classes[of(RouteClass::read)];
  CHECK(reads.answered[place_of(206)] == 1);
  CHECK(reads.took[0].count() == 1);
  CHECK(reads.took[0].sum == 2'000'000);
  CHECK(reads.cut == 0);
}

TEST_CASE("reactor counts: what reached no endpoint has a class of its own") {
  ReactorCounts counts;
  counts.answered(std::nullopt, 404, milliseconds(1), false);
  const auto read = counts.read();
  CHECK(class_name(kCountedClasses - 1) == "none");
  CHECK(read.classes[kCountedClasses - 1].answered[place_of(404)] == 1);
  CHECK(read.classes[kCountedClasses - 1].took[2].count() == 1);
  CHECK(read.classes[kCountedClasses - 1].cut == 1);
}

TEST_CASE("reactor counts: any status has its place, be it never sent") {
  ReactorCounts counts;
  for (unsigned status = 0; status < 1000; ++status) {
    counts.answered(RouteClass::write, status, milliseconds(1), true);
  }
  const auto read = counts.read().classes[of(RouteClass::write)];
  CHECK(status_name(kStatusCounts - 1) == "other");
  CHECK(read.answered[kStatusCounts - 1] == 1000 - kCountedStatuses.size());
  for (std::size_t i = 0; i < kCountedStatuses.size(); ++i) CHECK(read.answered[i] == 1);
}

TEST_CASE("reactor counts: names are different, and statuses in order") {
  std::set<std::string> classes;
  for (std::size_t i = 0; i < kCountedClasses; ++i) classes.insert(class_name(i));
  CHECK(classes.size() == kCountedClasses);
  std::set<std::string> statuses;
  for (std::size_t i = 0; i < kStatusCounts; ++i) statuses.insert(status_name(i));
  CHECK(statuses.size() == kStatusCounts);
  CHECK(std::is_sorted(kCountedStatuses.begin(), kCountedStatuses.end()));
}

TEST_CASE("reactor counts: the sum of two reactors has the counts of both") {
  ReactorCounts a;
  ReactorCounts b;
  a.answered(RouteClass::probe, 200, milliseconds(1), true);
  b.answered(RouteClass::probe, 200, milliseconds(3), true);
  a.received(5);
  b.received(6);
  b.sent(7);
  b.late(milliseconds(4));
  ReactorCounts::Read sum;
  sum += a.read();
  sum += b.read();
  CHECK(sum.classes[of(RouteClass::probe)].answered[place_of(200)] == 2);
  CHECK(sum.classes[of(RouteClass::probe)].took[0].sum == 4'000'000);
  CHECK(sum.received_bytes == 11);
  CHECK(sum.sent_bytes == 7);
  CHECK(sum.lag.count() == 1);
}

}  // namespace
}  // namespace orlop
