#include "base/tally.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

namespace orlop {
namespace {

constexpr std::array<std::uint64_t, 3> kBounds = {1, 10, 100};

TEST_CASE("tally: a value is counted at the first bound that it does not exceed") {
  Histogram<Tally, kBounds> histogram;
  for (const auto value : {0U, 1U, 2U, 10U, 11U, 100U, 101U, 5000U}) histogram.add(value);
  const auto read = histogram.read();
  CHECK(std::vector(read.counts.begin(), read.counts.begin() + 4) ==
        std::vector<std::uint64_t>{2, 2, 2, 2});
  CHECK(read.count() == 8);
  CHECK(read.sum == 0 + 1 + 2 + 10 + 11 + 100 + 101 + 5000);
}

TEST_CASE("tally: the sum of two distributions has the counts of both") {
  Histogram<Tally, kBounds> a;
  Histogram<Tally, kBounds> b;
  a.add(std::uint64_t{5});
  b.add(std::uint64_t{7});
  b.add(std::uint64_t{700});
  Distribution sum;
  sum += a.read();
  sum += b.read();
  CHECK(sum.counts[1] == 2);
  CHECK(sum.counts[3] == 1);
  CHECK(sum.sum == 712);
  CHECK(sum.bounds.data() == kBounds.data());
}

TEST_CASE("tally: a time below zero counts as none") {
  DurationHistogram histogram;
  histogram.add(std::chrono::nanoseconds(-5));
  histogram.add(std::chrono::milliseconds(2));
  CHECK(histogram.read().counts[0] == 1);
  CHECK(histogram.read().counts[3] == 1);
  CHECK(histogram.read().sum == 2'000'000);
}

TEST_CASE("tally: bounds rise, and durations lie between 100 microseconds and a minute") {
  CHECK(std::is_sorted(kDurationBounds.begin(), kDurationBounds.end()));
  CHECK(kDurationBounds.front() == 100'000);
  CHECK(kDurationBounds.back() == 60'000'000'000);
}

TEST_CASE("tally: what one thread counts never falls for another that reads") {
  Tally tally;
  constexpr std::uint64_t kAdds = 200'000;
  std::thread writer([&] {
    for (std::uint64_t i = 0; i < kAdds; ++i) tally.add();
  });
  std::uint64_t before = 0;
  bool fell = false;
  while (before < kAdds) {
    const auto now = tally.value();
    fell = fell || now < before;
    before = now;
  }
  writer.join();
  CHECK_FALSE(fell);
}

TEST_CASE("tally: of what several threads count together nothing is lost") {
  SharedDurationHistogram histogram;
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 10'000; ++n) histogram.add(std::chrono::microseconds(n));
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(histogram.read().count() == 40'000);
}

}  // namespace
}  // namespace orlop
