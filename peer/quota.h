#pragma once

#include <atomic>
#include <cstddef>

namespace orlop {

/// A number of things that there may be at once. Safe from any thread.
class Quota {
 public:
  explicit Quota(std::size_t max) : max_(max) {}

  /// Takes one, if one is left.
  bool take() {
    if (taken_.fetch_add(1) < max_) return true;
    taken_.fetch_sub(1);
    return false;
  }
  void give_back() { taken_.fetch_sub(1); }
  std::size_t taken() const { return taken_; }

 private:
  const std::size_t max_;
  std::atomic<std::size_t> taken_ = 0;
};

}  // namespace orlop
