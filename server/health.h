#pragma once

#include <atomic>

namespace orlop {

/// What the server knows of its own state. Safe from any thread.
class Health {
 public:
  /// SIGTERM came: others should stop sending requests, which are still answered for a while.
  void begin_draining() { draining_ = true; }
  bool draining() const { return draining_; }

 private:
  std::atomic<bool> draining_ = false;
};

}  // namespace orlop
