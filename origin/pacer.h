#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>

namespace orlop {

/// Keeps background work at a share of one core: who works calls `pause` between two small pieces
/// of work, and sleeps for as long as the processor time that its thread took since then asks for.
/// Time in which the work waited for the disk counts as slept, but is not saved up.
///
/// `pause` and the two that wait belong to the one thread that works; `stop` may come from any.
class Pacer {
 public:
  /// `share` of a core, above 0; 1 or more never sleeps.
  explicit Pacer(double share) : share_(share) {}

  /// False once `stop` was called; at once then, also out of a sleep.
  bool pause();
  /// Sleeps, for another reason. As `pause`.
  bool wait(std::chrono::milliseconds time);

  void wait_for_stop();

  void stop();
  bool stopped() const { return stop_.stop_requested(); }
  /// For work that takes long between two calls of `pause`.
  std::stop_token stop_token() const { return stop_.get_token(); }

 private:
  /// Sleeping for less costs more than it is worth: what is owed is kept until it is so much.
  static constexpr std::chrono::milliseconds kSleepMin{5};

  bool sleep(std::chrono::nanoseconds time);

  const double share_;
  bool begun_ = false;
  std::chrono::nanoseconds worked_before_{0};
  std::chrono::steady_clock::time_point since_;

  std::stop_source stop_;  // Requested under mutex_, so that no sleeper misses it.
  std::mutex mutex_;
  std::condition_variable wake_;
};

}  // namespace orlop
