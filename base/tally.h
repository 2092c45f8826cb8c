#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "base/check.h"

namespace orlop {

/// A count that one thread changes and any thread reads. No locked instruction and no line shared
/// between writers, so it may stand on a hot path. A reader sees it a moment old, and several of
/// them not of one moment.
class Tally {
 public:
  void add(std::uint64_t more = 1) {
    value_.store(value_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// The same for any number of writers: each `add` takes the cache line. Not for hot paths.
class SharedTally {
 public:
  void add(std::uint64_t more = 1) { value_.fetch_add(more, std::memory_order_relaxed); }
  std::uint64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

/// How values are spread, as of a moment ago: what a histogram gives when it is read.
struct Distribution {
  static constexpr std::size_t kBoundsMax = 14;

  /// Rising, of a constant. A value belongs to the first bound that it does not exceed.
  std::span<const std::uint64_t> bounds;
  /// One count a bound, and behind the last bound's the count of what exceeds all.
  std::array<std::uint64_t, kBoundsMax + 1> counts = {};
  std::uint64_t sum = 0;  ///< Of the values.

  std::uint64_t count() const {
    return std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
  }
  /// Pre: the same bounds, or none yet.
  Distribution& operator+=(const Distribution& other) {
    ORLOP_CHECK(bounds.empty() || bounds.data() == other.bounds.data());
    bounds = other.bounds;
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
    sum += other.sum;
    return *this;
  }
};

/// Counts values by fixed bounds: an array of std::uint64_t, rising, `Distribution::kBoundsMax` at
/// most. `Count` is Tally or SharedTally, and says who may add.
template <class Count, const auto& kBounds>
class Histogram {
  static_assert(kBounds.size() <= Distribution::kBoundsMax);

 public:
  void add(std::uint64_t value) {
    const auto bound = std::lower_bound(kBounds.begin(), kBounds.end(), value);
    counts_[static_cast<std::size_t>(bound - kBounds.begin())].add();
    sum_.add(value);
  }
  /// In nanoseconds; below 0 counts as 0.
  void add(std::chrono::nanoseconds time) {
    add(static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0)));
  }

  Distribution read() const {
    Distribution read;
    read.bounds = kBounds;
    for (std::size_t i = 0; i < counts_.size(); ++i) read.counts[i] = counts_[i].value();
    read.sum = sum_.value();
    return read;
  }

 private:
  std::array<Count, Distribution::kBoundsMax + 1> counts_;
  Count sum_;
};

/// For every duration that is counted, in nanoseconds: 100 µs to 60 s. The same for all, so that
/// they can be compared.
inline constexpr std::array<std::uint64_t, 13> kDurationBounds = {
    100'000,        300'000,        1'000'000,     3'000'000,     10'000'000,
    30'000'000,     100'000'000,    300'000'000,   1'000'000'000, 3'000'000'000,
    10'000'000'000, 30'000'000'000, 60'000'000'000};

using DurationHistogram = Histogram<Tally, kDurationBounds>;
using SharedDurationHistogram = Histogram<SharedTally, kDurationBounds>;

}  // namespace orlop
