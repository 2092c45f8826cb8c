#pragma once

#include <mutex>

#include "base/clock.h"

namespace orlop {

/// A clock that stands still until a test moves it.
class ManualClock final : public Clock {
 public:
  Wall wall() const override {
    const std::lock_guard lock(mutex_);
    return wall_;
  }
  Steady steady() const override {
    const std::lock_guard lock(mutex_);
    return steady_;
  }
  void advance(std::chrono::nanoseconds by) {
    const std::lock_guard lock(mutex_);
    wall_ += std::chrono::duration_cast<Wall::duration>(by);
    steady_ += by;
  }
  /// As when somebody sets it, or NTP does.
  void step_wall(std::chrono::nanoseconds by) {
    const std::lock_guard lock(mutex_);
    wall_ += std::chrono::duration_cast<Wall::duration>(by);
  }

 private:
  mutable std::mutex mutex_;
  Wall wall_{std::chrono::seconds(1'796'000'000)};
  Steady steady_{std::chrono::hours(1)};
};

}  // namespace orlop
