#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "base/asio.h"

namespace orlop {

/// Something that happens once. Any thread may set it; coroutines on any reactor may wait for it.
///
/// A waiting coroutine must keep the event alive (hold it by shared_ptr, or in its own frame).
/// Reactors outlive all events on which their coroutines wait.
class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  /// Wakes everybody who waits, now and later. Setting it twice is once.
  void set();

  bool is_set() const;

  /// True once it is set; false if `limit` passed first.
  Task<bool> wait_for(std::chrono::milliseconds limit);
  /// For what is sure to be set: work that was handed to a pool.
  Task<> wait();

 private:
  struct Waiter;

  mutable std::mutex mutex_;
  bool set_ = false;
  std::vector<std::shared_ptr<Waiter>> waiters_;  // Shared with the post that wakes them.
};

}  // namespace orlop
