#include "origin/verifications.h"

#include <utility>

namespace orlop {

Verifications::Verifications(Verify verify)
    : verify_(std::move(verify)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

Verifications::~Verifications() {
  thread_.request_stop();
  thread_.join();
  for (const auto& [digest, verification] : by_digest_) verification->done.set();
}

std::shared_ptr<Verification> Verifications::begin(Digest digest) {
  const std::lock_guard lock(mutex_);
  if (const auto known = by_digest_.find(digest); known != by_digest_.end()) return known->second;
  if (by_digest_.size() >= kWaitingMax) return nullptr;
  auto verification = std::make_shared<Verification>();
  by_digest_.emplace(digest, verification);
  line_.push_back(digest);
  wake_.notify_one();
  return verification;
}

std::shared_ptr<Verification> Verifications::find(Digest digest) const {
  const std::lock_guard lock(mutex_);
  const auto known = by_digest_.find(digest);
  return known == by_digest_.end() ? nullptr : known->second;
}

std::size_t Verifications::waiting() const {
  const std::lock_guard lock(mutex_);
  return by_digest_.size();
}

void Verifications::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return !line_.empty(); })) {
    if (stop.stop_requested()) return;
    const auto digest = line_.front();
    line_.pop_front();
    lock.unlock();
    const auto right = verify_(digest, stop);
    lock.lock();
    const auto ended = by_digest_.extract(digest);
    lock.unlock();
    ended.mapped()->right = right;
    ended.mapped()->done.set();
    lock.lock();
  }
}

}  // namespace orlop
