#pragma once

#include <utility>

#include "base/clock.h"

namespace orlop {

/// The time by which blobs grow old: when they were last used, and how long that is ago.
///
/// It goes exactly as fast as the monotonic clock while the process runs, stands still while it
/// does not, and goes on where the last process left it. So it agrees with the calendar only
/// roughly; but no step of the wall clock, neither while the process runs nor while the machine is
/// off, can make all blobs old at once, or keep one young for ever (cases.md, pain 18). Down time
/// is no idle time: after a long stop blobs go later than a calendar would say, never earlier.
///
/// `resume_at` is called before others use it; the rest is safe from any thread. `clock` outlives
/// it.
class AgeClock final : public Clock {
 public:
  /// Begins at the present wall time, which is where an empty database begins.
  explicit AgeClock(const Clock& clock)
      : clock_(clock), start_(clock.wall()), started_at_(clock.steady()) {}

  /// Goes on where a former process was.
  void resume_at(Wall age) {
    start_ = age;
    started_at_ = clock_.steady();
  }

  Wall wall() const override {
    return start_ + std::chrono::duration_cast<Wall::duration>(clock_.steady() - started_at_);
  }
  Steady steady() const override { return clock_.steady(); }

 private:
  const Clock& clock_;
  Wall start_;
  Steady started_at_;
};

}  // namespace orlop
