#pragma once

#include <chrono>

namespace orlop {

/// Where the program gets the time. A seam: tests turn their own clock (tests/base/manual_clock.h).
/// Implementations are safe to call from any thread.
class Clock {
 public:
  using Wall = std::chrono::system_clock::time_point;
  using Steady = std::chrono::steady_clock::time_point;

  virtual ~Clock() = default;

  /// For what is stored and shown. May step backwards or far ahead at any time.
  virtual Wall wall() const = 0;
  /// For durations and deadlines inside this process. Never goes back.
  virtual Steady steady() const = 0;
};

class SystemClock final : public Clock {
 public:
  Wall wall() const override { return std::chrono::system_clock::now(); }
  Steady steady() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace orlop
