#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "core/digest.h"
#include "core/metainfo.h"
#include "metadata/metadata_kind.h"
#include "metadata/metainfo_reader.h"
#include "metadata/metainfo_table.h"

namespace orlop {

struct MetaInfoCacheOptions {
  /// What all objects may take together with all that belongs to them, those that were evicted and
  /// are still read included. 0: nothing is cached.
  std::uint64_t bytes_max = std::uint64_t{64} << 20;
};

/// What a metainfo cache holds at a moment.
struct MetaInfoCacheUse {
  std::uint64_t entries = 0;
  std::uint64_t bytes = 0;          ///< Of these.
  std::uint64_t retired_bytes = 0;  ///< Evicted, and not free yet.
  std::uint64_t evictions = 0;      ///< Since the start, for room.
  std::uint64_t refused = 0;  ///< Since the start: not cached, since too much was still being read.
};

/// Digest -> the one immutable MetaInfo, with its JSON made once. A read hands out *the* object: no
/// copy, no allocation, no lock, and no write to a line that another reader writes
/// (docs/decisions/0017-metainfo-cache.md).
///
/// Three kinds of reference, and how long each is good:
///  1. `find` gives a **borrowed** pointer. It is valid until the calling reader rests, which it
///     does between two turns of its loop: until the handler returns to the loop. It must not live
///     across `co_await`, a posted callback, or a change of threads.
///  2. `get` gives a **held** one, MetaInfoPtr, which owns: the object lives until the handle dies,
///     over any number of turns and beyond eviction. It stays on the reactor that made it.
///  3. `share`, and MetaInfoPtr::share, give a **shared** one, SharedMetaInfo, for any thread. It
///     never becomes a held one.
/// While a digest stays cached, everybody sees the same address.
///
/// The cache does not know whether a blob is here. Whoever changes what is recorded of a digest
/// calls `erase` afterwards and before anybody is told; whoever fills it took the `version` before
/// looking up what to put in. So nothing that was read before a change gets in after it.
///
/// Filled and emptied by any thread, under one mutex that no reader takes. Which entry goes is
/// decided by a bit that reads set and a sweep clears; what was never read goes first. Outlives its
/// readers.
class MetaInfoCache {
 public:
  /// `random` is used here and now.
  MetaInfoCache(const MetaInfoCacheOptions& options, Random& random);
  MetaInfoCache(const MetaInfoCache&) = delete;
  MetaInfoCache& operator=(const MetaInfoCache&) = delete;
  /// Pre: no reader is left.
  ~MetaInfoCache();

  /// Borrowed; null if it is not cached. Pre: this thread has a reader of this cache.
  const MetaInfo* find(const Digest& digest) {
    auto* reader = MetaInfoReader::current_;
    ORLOP_CHECK(reader != nullptr);
    ORLOP_CHECK(&reader->cache_ == this);
    const auto* entry = look(*reader, digest);
    return entry == nullptr ? nullptr : entry->object.get();
  }

  /// Held; null if it is not cached. `invariant_violation`, before any look-up, for a kind that can
  /// change. On a thread without a reader of this cache it takes the lock and allocates.
  Result<MetaInfoPtr> get(const Digest& digest, MetadataKind kind) {
    if (kind != MetadataKind::torrent_meta) return mutable_kind(digest, kind);
    auto* reader = MetaInfoReader::current_;
    if (reader == nullptr || &reader->cache_ != this) return MetaInfoPtr(share(digest));
    const auto* entry = look(*reader, digest);
    return entry == nullptr ? MetaInfoPtr() : MetaInfoPtr(*entry, *reader);
  }

  /// Shared; null if it is not cached. Any thread; takes the lock.
  SharedMetaInfo share(const Digest& digest);

  /// To be taken before the look-up whose outcome is inserted. Any thread, no lock.
  std::uint64_t version(const Digest& digest) const {
    return versions_[bucket(digest)].load(std::memory_order_acquire);
  }
  /// Makes this the object of its digest, or drops it if there is one already. What is returned
  /// is the object that is cached now; or what was given, uncached, if `erase` was called since
  /// `version` was taken, it is too large, or there is no room because too much is still being
  /// read. `seen_at` is for MetaInfoPtr::seen_at.
  SharedMetaInfo insert(SharedMetaInfo object, std::uint64_t version, std::uint32_t seen_at = 0);
  SharedMetaInfo insert(MetaInfo made, std::uint64_t version, std::uint32_t seen_at = 0) {
    return insert(std::make_shared<const MetaInfo>(std::move(made)), version, seen_at);
  }
  /// Nobody finds the digest's object from now on. Whoever has it keeps it.
  void erase(const Digest& digest);

  MetaInfoCacheUse use() const;

  /// What an object is counted as.
  static std::uint64_t bytes_of(const MetaInfo& metainfo);

 private:
  friend class MetaInfoReader;

  struct Retired {
    std::uint64_t epoch;  ///< Readers that have seen this one cannot find it.
    MetaInfoEntry* entry;
  };
  struct RetiredTable {
    std::uint64_t epoch;
    std::unique_ptr<MetaInfoTable> table;
  };
  struct Fresh {
    std::uint32_t number;
    std::uint64_t serial;  ///< Of the entry that had this number then.
  };
  using Storage = std::aligned_storage_t<sizeof(MetaInfoEntry), alignof(MetaInfoEntry)>;
  /// What became garbage under the lock and is freed after it.
  using Garbage = std::vector<SharedMetaInfo>;

  const MetaInfoEntry* look(MetaInfoReader& reader, const Digest& digest) const {
    if (!reader.looking_) reader.begin_to_look();
    const auto* entry = table_.load(std::memory_order_acquire)->find(digest);
    if (entry == nullptr) return nullptr;
    // Written only when clear: otherwise all readers would write to the line that all read.
    if (!entry->touched.load(std::memory_order_relaxed)) {
      entry->touched.store(true, std::memory_order_relaxed);
    }
    return entry;
  }
  static Error mutable_kind(const Digest& digest, MetadataKind kind);
  static std::size_t bucket(const Digest& digest) {
    return (digest.bytes()[30] * 256U + digest.bytes()[31]) % kVersions;
  }

  MetaInfoTable& table() { return *table_.load(std::memory_order_relaxed); }
  MetaInfoEntry* make_entry(SharedMetaInfo object);
  void replace_table();
  void unlink(MetaInfoEntry& entry);
  void evict_one();
  void queue(const MetaInfoEntry& entry);
  bool shorten_queue();
  bool is_gone(const Fresh& one) const;
  std::uint64_t seen_by_all() const;
  bool is_in_use(const MetaInfoEntry& entry) const;
  void reclaim(Garbage& garbage);

  static constexpr std::size_t kVersions = 1024;

  const MetaInfoCacheOptions options_;
  const std::size_t entries_max_;
  const DigestMix mix_;

  std::atomic<MetaInfoTable*> table_;     ///< Owned. Read by everybody, replaced under the mutex.
  std::atomic<std::uint64_t> epoch_ = 1;  ///< Moves when something cannot be found any more.
  std::array<std::atomic<std::uint64_t>, kVersions> versions_ = {};

  mutable std::mutex mutex_;
  // All of this under the mutex.
  std::vector<MetaInfoReader*> readers_;
  std::vector<std::unique_ptr<Storage[]>> blocks_;  ///< The entries, by number; they never move.
  std::vector<MetaInfoEntry*> linked_;              ///< By number; null: free or retired.
  std::vector<std::uint32_t> free_numbers_;
  std::vector<std::uint64_t> serials_;  ///< By number: of the entry that has it.
  std::uint64_t last_serial_ = 0;
  /// Nobody has read these, or the queue has not noticed: the oldest first. They go first, but have
  /// a share of the room; so neither do blobs that are pushed and never asked for drive out the
  /// ones that are, nor do those that were asked for once keep out all new ones.
  std::deque<Fresh> fresh_;
  std::size_t hand_ = 0;             ///< Of the sweep: a place in `linked_`.
  std::deque<Retired> retired_;      ///< By epoch: the oldest first.
  std::deque<MetaInfoEntry*> kept_;  ///< Nobody borrows these, but somebody may hold them.
  std::deque<RetiredTable> retired_tables_;
  MetaInfoCacheUse use_;
};

}  // namespace orlop
