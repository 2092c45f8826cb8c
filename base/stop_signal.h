#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace orlop {

/// Tells a thread that works for ever that it has to end, also in the middle of a wait. Safe from
/// any thread. The wait is virtual so that a test can let its own clock pass instead.
class StopSignal {
 public:
  virtual ~StopSignal() = default;

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

  bool stopped() const {
    const std::lock_guard lock(mutex_);
    return stopped_;
  }

  /// Waits for so long, or until it is stopped. Says whether it is.
  virtual bool wait_for(std::chrono::nanoseconds time) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, time, [this] { return stopped_; });
  }

 private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;
};

}  // namespace orlop
