#include "origin/pacer.h"

#include <ctime>

#include "base/check.h"

namespace orlop {
namespace {

/// The processor time of the calling thread so far.
std::chrono::nanoseconds worked_so_far() {
  timespec time = {};
  ORLOP_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) == 0);
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

}  // namespace

bool Pacer::pause() {
  const auto worked = worked_so_far();
  const auto now = std::chrono::steady_clock::now();
  if (!begun_) {
    begun_ = true;
    worked_before_ = worked;
    since_ = now;
  }
  const auto due = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double, std::nano>((worked - worked_before_).count()) / share_);
  const auto owed = due - (now - since_);
  if (owed > std::chrono::nanoseconds(0) && owed < kSleepMin) return sleep({});
  const bool go_on = sleep(owed);
  worked_before_ = worked;
  since_ = std::chrono::steady_clock::now();
  return go_on;
}

bool Pacer::wait(std::chrono::milliseconds time) { return sleep(time); }

bool Pacer::sleep(std::chrono::nanoseconds time) {
  std::unique_lock lock(mutex_);
  if (time > std::chrono::nanoseconds(0)) {
    wake_.wait_for(lock, time, [&] { return stopped(); });
  }
  return !stopped();
}

void Pacer::wait_for_stop() {
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return stopped(); });
}

void Pacer::stop() {
  {
    const std::lock_guard lock(mutex_);
    stop_.request_stop();
  }
  wake_.notify_all();
}

}  // namespace orlop
