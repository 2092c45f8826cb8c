#include "store/memory_store.h"

#include <utility>

#include "base/check.h"

namespace orlop {
namespace {

/// What an entry takes beside its bytes and its metainfo's, with what malloc adds.
constexpr std::uint64_t kEntryBytes = 256;

std::uint64_t bytes_of(const MemoryBlob& blob) {
  return kEntryBytes + blob.bytes.capacity() + sizeof(MetaInfo) + blob.metainfo->json().capacity() +
         4 * blob.metainfo->piece_sums().size();
}

}  // namespace

bool MemoryStore::put(MemoryBlob blob) {
  ORLOP_CHECK(blob.metainfo != nullptr);
  ORLOP_CHECK(blob.metainfo->size_bytes() == blob.bytes.size());
  const auto digest = blob.metainfo->digest();
  const auto bytes = bytes_of(blob);
  const auto shared = std::make_shared<const MemoryBlob>(std::move(blob));
  const std::lock_guard lock(mutex_);
  if (blobs_.contains(digest)) return true;
  if (bytes > bytes_max_ - bytes_) return false;
  blobs_.emplace(digest, shared);
  bytes_ += bytes;
  return true;
}

std::shared_ptr<const MemoryBlob> MemoryStore::find(const Digest& digest) const {
  const std::lock_guard lock(mutex_);
  const auto found = blobs_.find(digest);
  return found == blobs_.end() ? nullptr : found->second;
}

void MemoryStore::remove(const Digest& digest) {
  std::shared_ptr<const MemoryBlob> blob;  // Freed after the lock.
  const std::lock_guard lock(mutex_);
  const auto found = blobs_.find(digest);
  if (found == blobs_.end()) return;
  blob = std::move(found->second);
  bytes_ -= bytes_of(*blob);
  blobs_.erase(found);
}

MemoryStoreUse MemoryStore::use() const {
  const std::lock_guard lock(mutex_);
  return {.blobs = blobs_.size(), .bytes = bytes_};
}

}  // namespace orlop
