#include "metadata/last_access.h"

namespace orlop {

void LastAccess::touch(Digest digest) {
  const auto hour = catalogue_->current_hour();
  auto& mine = shard(digest);
  const std::lock_guard lock(mine.mutex);
  if (const auto found = mine.touches.find(digest); found != mine.touches.end()) {
    if (found->second.hour != hour) found->second = {hour, false};
    return;
  }
  // The count is raised first: threads in other shards must not pass the bound together.
  if (remembered_.fetch_add(1, std::memory_order_relaxed) >= options_.digests_max) {
    remembered_.fetch_sub(1, std::memory_order_relaxed);
    dropped_.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  mine.touches.emplace(digest, Touch{hour, false});
}

Result<> LastAccess::flush() {
  const std::lock_guard one_at_a_time(flush_mutex_);
  const auto hour = catalogue_->current_hour();
  for (auto& shard : shards_) {
    const auto accesses = unwritten(shard, hour);
    if (accesses.empty()) continue;
    if (auto recorded = catalogue_->record_accesses(accesses); !recorded) return recorded;
    mark_written(shard, accesses);
  }
  return {};
}

std::vector<Access> LastAccess::unwritten(Shard& shard, std::uint32_t hour) {
  std::vector<Access> accesses;
  const std::lock_guard lock(shard.mutex);
  const auto forgotten = std::erase_if(shard.touches, [hour](const auto& entry) {
    return entry.second.written && entry.second.hour != hour;
  });
  remembered_.fetch_sub(forgotten, std::memory_order_relaxed);
  for (const auto& [digest, touch] : shard.touches) {
    if (!touch.written) accesses.push_back({touch.hour, digest});
  }
  return accesses;
}

void LastAccess::mark_written(Shard& shard, std::span<const Access> accesses) {
  const std::lock_guard lock(shard.mutex);
  for (const auto& [hour, digest] : accesses) {
    const auto found = shard.touches.find(digest);
    // Touched again in the next hour meanwhile: then that one is still to be written.
    if (found != shard.touches.end() && found->second.hour == hour) found->second.written = true;
  }
}

}  // namespace orlop
