#include "base/event.h"

#include <algorithm>
#include <utility>

namespace orlop {

struct Event::Waiter {
  explicit Waiter(const Executor& on) : executor(on), timer(on) {}

  Executor executor;
  SteadyTimer timer;  // Touched on its own reactor only.
};

void Event::set() {
  std::vector<std::shared_ptr<Waiter>> woken;
  {
    const std::lock_guard lock(mutex_);
    set_ = true;
    woken.swap(waiters_);
  }
  for (auto& waiter : woken) {
    auto executor = waiter->executor;
    // Posted, never dispatched: it runs after the waiter has reached its co_await.
    asio::post(executor, [waiter = std::move(waiter)] { waiter->timer.cancel(); });
  }
}

bool Event::is_set() const {
  const std::lock_guard lock(mutex_);
  return set_;
}

Task<bool> Event::wait_for(std::chrono::milliseconds limit) {
  const auto executor = co_await asio::this_coro::executor;
  const auto waiter = std::make_shared<Waiter>(executor);
  waiter->timer.expires_after(limit);
  {
    const std::lock_guard lock(mutex_);
    if (set_) co_return true;
    waiters_.push_back(waiter);
  }
  co_await waiter->timer.async_wait(no_throw);
  const std::lock_guard lock(mutex_);
  std::erase(waiters_, waiter);
  co_return set_;
}

Task<> Event::wait() {
  for (;;) {
    const bool set = co_await wait_for(std::chrono::hours(1));
    if (set) co_return;
  }
}

}  // namespace orlop
