#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "core/digest.h"
#include "metadata/catalogue.h"

namespace orlop {

struct LastAccessOptions {
  std::size_t digests_max = 1'000'000;  ///< Remembered at once; about 64 bytes each.
};

/// When blobs were last used, to the hour, kept in memory between two flushes.
///
/// A read of a blob must not become a write of its record: so `touch` only remembers, and `flush`
/// moves each blob at most once an hour. What was touched since the last flush is lost with the
/// process; eviction then takes the blob for less used than it is, nothing else.
///
/// Safe to use from any thread. `catalogue` outlives it.
class LastAccess {
 public:
  explicit LastAccess(Catalogue& catalogue, LastAccessOptions options = {})
      : catalogue_(&catalogue), options_(options) {}

  /// Remembers that the blob is used now. Does not block on the disk, and does not allocate for a
  /// digest that it remembers already. With `digests_max` digests in memory a new one is dropped.
  void touch(Digest digest);

  /// Writes what was touched since the last flush to the catalogue, unsynced, and forgets the
  /// digests of earlier hours. Blocks. After an error, what was not written is tried again by the
  /// next flush. Flushes take turns.
  Result<> flush();

  std::size_t remembered() const { return remembered_.load(std::memory_order_relaxed); }
  /// Touches that were dropped so far because memory was full.
  std::uint64_t dropped_total() const { return dropped_.load(std::memory_order_relaxed); }

 private:
  struct Touch {
    std::uint32_t hour;
    bool written;  ///< The catalogue has it.
  };
  /// Threads that touch different blobs seldom meet.
  struct Shard {
    std::mutex mutex;
    std::unordered_map<Digest, Touch> touches;
  };

  Shard& shard(const Digest& digest) { return shards_[digest.bytes().back() % shards_.size()]; }
  std::vector<Access> unwritten(Shard& shard, std::uint32_t hour);
  static void mark_written(Shard& shard, std::span<const Access> accesses);

  Catalogue* catalogue_;
  LastAccessOptions options_;
  std::mutex flush_mutex_;
  std::array<Shard, 64> shards_;
  std::atomic<std::size_t> remembered_ = 0;
  std::atomic<std::uint64_t> dropped_ = 0;
};

}  // namespace orlop
