#include "server/storage_watch.h"

#include <utility>

namespace orlop {

StorageWatch::StorageWatch(Ask ask)
    : ask_(std::move(ask)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

StorageWatch::~StorageWatch() = default;

std::optional<StorageWatch::Seen> StorageWatch::look(std::chrono::nanoseconds patience) {
  std::unique_lock lock(mutex_);
  const auto before = answers_;
  asked_for_ = true;
  wake_.notify_all();
  wake_.wait_for(lock, patience, [&] { return answers_ != before; });
  if (!last_) return std::nullopt;
  return Seen{.figures = *last_, .age = std::chrono::steady_clock::now() - answered_at_};
}

void StorageWatch::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (wake_.wait(lock, stop, [this] { return asked_for_; })) {
    asked_for_ = false;
    lock.unlock();
    auto answer = ask_();
    lock.lock();
    last_ = std::move(answer);
    answered_at_ = std::chrono::steady_clock::now();
    ++answers_;
    wake_.notify_all();
  }
}

}  // namespace orlop
