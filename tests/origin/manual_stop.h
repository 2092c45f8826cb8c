#pragma once

#include <chrono>
#include <functional>

#include "base/stop_signal.h"
#include "tests/base/manual_clock.h"

namespace orlop {

/// Lets the test's clock pass instead of waiting, and tells the test each time.
class ManualStop final : public StopSignal {
 public:
  explicit ManualStop(ManualClock& clock) : clock_(clock) {}

  bool wait_for(std::chrono::nanoseconds time) override {
    clock_.advance(time);
    waited += time;
    if (on_wait) on_wait();
    return stopped();
  }

  std::chrono::nanoseconds waited{0};
  std::function<void()> on_wait;

 private:
  ManualClock& clock_;
};

}  // namespace orlop
