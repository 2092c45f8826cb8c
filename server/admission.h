#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "base/tally.h"
#include "server/access.h"

namespace orlop {

/// How many requests of a class may run at once, from the handler's first step to the answer's last
/// byte.
struct ConcurrencyLimits {
  std::size_t reads_max = 4096;     ///< server.reads_max
  std::size_t writes_max = 1024;    ///< server.writes_max
  std::size_t operations_max = 16;  ///< server.operations_max

  std::size_t of(RouteClass route_class) const;
};

/// Counts the running requests of each class, and refuses those beyond the limit, so that a flood
/// of one kind costs answers of 503 and neither memory nor the other kinds. Without locks; safe
/// from any thread.
class Admission {
  struct Counter;

 public:
  /// A running request. The place is free again when this goes, or is asked to.
  class Slot {
   public:
    Slot() = default;
    Slot(Slot&& other) noexcept : counter_(std::exchange(other.counter_, nullptr)) {}
    Slot& operator=(Slot&& other) noexcept {
      release();
      counter_ = std::exchange(other.counter_, nullptr);
      return *this;
    }
    ~Slot() { release(); }

    void release();

   private:
    friend class Admission;
    explicit Slot(Counter& counter) : counter_(&counter) {}
    Counter* counter_ = nullptr;  ///< Null: of a class that is not counted, or released.
  };

  explicit Admission(ConcurrencyLimits limits) : limits_(limits) {}

  /// `busy`, naming the key of the limit, if as many run already. Never for RouteClass::probe.
  ///
  /// Says in the log that requests are refused, but at most once in ten seconds for each class: a
  /// flood of requests must not become a flood of lines.
  Result<Slot> enter(RouteClass route_class);

  /// How many run now; a moment old.
  std::size_t running(RouteClass route_class) const;
  /// How many were refused since the start.
  std::uint64_t refused(RouteClass route_class) const;

 private:
  /// On cache lines of their own: the classes have nothing to do with each other.
  struct alignas(64) Counter {
    std::atomic<std::size_t> running = 0;
    std::atomic<std::uint64_t> refused = 0;  ///< Since the last line about it.
    SharedTally refused_ever;
    std::atomic<std::int64_t> quiet_until_ms = 0;
  };

  void complain(RouteClass route_class, Counter& counter);

  const ConcurrencyLimits limits_;
  std::array<Counter, kRouteClasses> counters_;
};

}  // namespace orlop
