#include "store/upload_gate.h"

#include <algorithm>
#include <utility>

namespace orlop {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Returns with inside_ set for the caller. The lock is never held across a co_await.
Task<Result<>> UploadGate::wait_until_empty(Manner manner) {
  std::unique_lock lock(mutex_);
  const auto give_up_at = steady_clock::now() + limits_.wait_max;
  while (inside_) {
    // Who seals is not sent away: the upload may be about to become the blob.
    if (waiter_ != nullptr && (manner == Manner::polite || sealed_)) {
      co_return Error(Errc::busy, "another request waits for this upload");
    }
    if (waiter_ != nullptr) {
      waiter_->displaced = true;
      waiter_->turn.set();
    }
    manner = Manner::polite;  // From now on, whoever else is here has come later.
    const auto now = steady_clock::now();
    if (now >= give_up_at) co_return Error(Errc::busy, "another request is writing this upload");

    const auto silent_at = heard_at_.value_or(now) + limits_.takeover_after;
    std::function<void()> interrupt;
    if (now >= silent_at) interrupt = std::exchange(interrupt_, nullptr);
    const auto until = now < silent_at ? std::min(silent_at, give_up_at) : give_up_at;

    const auto self = std::make_shared<Waiter>();
    waiter_ = self;
    lock.unlock();
    if (interrupt) interrupt();
    // One more millisecond, so that rounding down cannot make this a busy loop.
    co_await self->turn.wait_for(std::chrono::duration_cast<milliseconds>(until - now) +
                                 milliseconds(1));
    lock.lock();
    if (waiter_ == self) waiter_ = nullptr;
    if (self->displaced) co_return Error(Errc::busy, "a later request waits for this upload");
  }
  inside_ = true;
  heard_at_ = steady_clock::now();
  co_return Result<>();
}

Task<Result<>> UploadGate::enter(std::function<void()> interrupt) {
  {
    const std::lock_guard lock(mutex_);
    if (sealed_) co_return Error(Errc::not_found, "the upload is being committed");
  }
  if (auto empty = co_await wait_until_empty(Manner::displacing); !empty) {
    co_return std::move(empty).error();
  }
  std::unique_lock lock(mutex_);
  if (sealed_) {
    lock.unlock();
    leave();
    co_return Error(Errc::not_found, "the upload is being committed");
  }
  interrupt_ = std::move(interrupt);
  co_return Result<>();
}

void UploadGate::progress() {
  const std::lock_guard lock(mutex_);
  heard_at_ = steady_clock::now();
}

void UploadGate::pause() {
  const std::lock_guard lock(mutex_);
  heard_at_.reset();
}

void UploadGate::leave() {
  std::shared_ptr<Waiter> next;
  {
    const std::lock_guard lock(mutex_);
    inside_ = false;
    interrupt_ = nullptr;
    next = std::move(waiter_);
    waiter_ = nullptr;
  }
  if (next) next->turn.set();
}

bool UploadGate::idle() const {
  const std::lock_guard lock(mutex_);
  return !inside_ && !sealed_ && waiter_ == nullptr;
}

Task<Result<>> UploadGate::seal() {
  {
    const std::lock_guard lock(mutex_);
    if (sealed_) co_return Error(Errc::busy, "another request is committing this upload");
    // Refused before it is sealed: the one who waits would be told that the upload is gone.
    if (waiter_ != nullptr) co_return Error(Errc::busy, "another request waits for this upload");
    sealed_ = true;
  }
  if (auto empty = co_await wait_until_empty(Manner::polite); !empty) {
    unseal();
    co_return std::move(empty).error();
  }
  leave();  // Sealed is enough from here: no writer passes enter().
  co_return Result<>();
}

void UploadGate::unseal() {
  const std::lock_guard lock(mutex_);
  sealed_ = false;
}

}  // namespace orlop
