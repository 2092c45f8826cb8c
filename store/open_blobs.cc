#include "store/open_blobs.h"

#include "base/check.h"

namespace orlop {

OpenBlobs::Pin OpenBlobs::pin(Digest digest) {
  auto& mine = shard(digest);
  const std::lock_guard lock(mine.mutex);
  ++mine.readers[digest];
  return {this, digest};
}

void OpenBlobs::unpin(Digest digest) {
  auto& mine = shard(digest);
  const std::lock_guard lock(mine.mutex);
  const auto found = mine.readers.find(digest);
  ORLOP_CHECK(found != mine.readers.end());
  if (--found->second == 0) mine.readers.erase(found);
}

bool OpenBlobs::is_open(Digest digest) const {
  const auto& mine = shard(digest);
  const std::lock_guard lock(mine.mutex);
  return mine.readers.contains(digest);
}

std::size_t OpenBlobs::count() const {
  std::size_t count = 0;
  for (const auto& one : shards_) {
    const std::lock_guard lock(one.mutex);
    count += one.readers.size();
  }
  return count;
}

}  // namespace orlop
