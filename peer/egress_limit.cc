#include "peer/egress_limit.h"

#include <algorithm>

namespace orlop {

std::chrono::nanoseconds EgressLimit::take(std::uint64_t bytes, Time now) {
  if (rate_ == 0) return std::chrono::nanoseconds(0);
  const std::chrono::duration<double> passed = now - filled_at_;
  filled_at_ = now;
  there_ = std::min(there_ + passed.count() * rate_, rate_) - static_cast<double>(bytes);
  if (there_ >= 0) return std::chrono::nanoseconds(0);
  const std::chrono::duration<double> wait(-there_ / rate_);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(wait);
}

}  // namespace orlop
