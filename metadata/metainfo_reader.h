#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <utility>

#include "base/check.h"
#include "core/metainfo.h"
#include "metadata/metainfo_table.h"

namespace orlop {

class MetaInfoCache;
class MetaInfoPtr;

/// A thread that reads from a metainfo cache without locks: a reactor. On the thread's stack for
/// as long as the thread serves. One a thread; the cache, and every MetaInfoPtr that was made on
/// this thread, are gone before and after it respectively: the cache outlives it, it outlives them.
///
/// How the cache knows when an evicted object may be freed (quiescent states): a reader is either
/// *looking*, and then it said which evictions it has seen before it began; or it rests, and then
/// it borrows nothing. What was evicted is kept until every reader that may still look at it has
/// rested, and until no MetaInfoPtr counts it. Counts are an array of each reader's own, so no
/// line that two readers write exists.
class alignas(64) MetaInfoReader {
 public:
  /// `on_look` is called when the reader begins to look after a rest: whoever runs the thread's
  /// loop then sees to it that `rest` is called soon. It may be null.
  explicit MetaInfoReader(MetaInfoCache& cache, std::function<void()> on_look = nullptr);
  MetaInfoReader(const MetaInfoReader&) = delete;
  MetaInfoReader& operator=(const MetaInfoReader&) = delete;
  ~MetaInfoReader();

  /// Nothing is borrowed: between two turns of the loop. Until then nothing that was evicted since
  /// the first look is freed, and it counts against the cache's limit.
  void rest() {
    if (!looking_) return;
    looking_ = false;
    seen_epoch_.store(kResting, std::memory_order_release);
  }

 private:
  friend class MetaInfoCache;
  friend class MetaInfoPtr;

  static constexpr std::uint64_t kResting = ~std::uint64_t{0};

  struct Free {
    void operator()(std::uint32_t* counts) const { std::free(counts); }
  };

  void begin_to_look();

  /// Written by this thread alone; `by` is 1 or -1. Release: who sees that nobody holds the object
  /// sees that all reads of it are over.
  void count(std::uint32_t number, std::uint32_t by) {
    const std::atomic_ref<std::uint32_t> held(counts_.get()[number]);
    held.store(held.load(std::memory_order_relaxed) + by, std::memory_order_release);
  }

  static constinit thread_local MetaInfoReader* current_;

  MetaInfoCache& cache_;
  const std::function<void()> on_look_;
  bool looking_ = false;
  std::atomic<std::uint64_t> seen_epoch_ = kResting;
  /// By the entry's number: how many handles this reader has of it. From calloc, so that the kernel
  /// gives only the pages that are used.
  const std::unique_ptr<std::uint32_t, Free> counts_;
};

/// Owns a metainfo: "held". The object lives until the handle dies, over any number of turns and
/// `co_await`s and beyond its eviction. Made by MetaInfoCache::get, and moved and destroyed **only
/// on the thread that made it**, because the count is that reader's own; destroying it elsewhere
/// stops the process. Two words; may be null.
class MetaInfoPtr {
 public:
  MetaInfoPtr() = default;
  /// Of an object that no cache has: made just now, or found by a thread that is no reader. This
  /// one has no home and may be destroyed anywhere.
  explicit MetaInfoPtr(SharedMetaInfo object)
      : entry_(object == nullptr ? nullptr
                                 : new MetaInfoEntry(std::move(object), MetaInfoEntry::kDetached)) {
  }
  MetaInfoPtr(MetaInfoPtr&& other) noexcept
      : entry_(std::exchange(other.entry_, nullptr)),
        reader_(std::exchange(other.reader_, nullptr)) {}
  MetaInfoPtr& operator=(MetaInfoPtr&& other) noexcept {
    std::swap(entry_, other.entry_);
    std::swap(reader_, other.reader_);
    return *this;
  }
  ~MetaInfoPtr() {
    if (entry_ == nullptr) return;
    if (reader_ == nullptr) {
      delete entry_;
      return;
    }
    ORLOP_CHECK(reader_ == MetaInfoReader::current_);
    reader_->count(entry_->number, static_cast<std::uint32_t>(-1));
  }

  const MetaInfo& operator*() const { return *entry_->object; }
  const MetaInfo* operator->() const { return entry_->object.get(); }
  const MetaInfo* get() const { return entry_ == nullptr ? nullptr : entry_->object.get(); }
  explicit operator bool() const { return entry_ != nullptr; }
  friend bool operator==(const MetaInfoPtr& pointer, std::nullptr_t) {
    return pointer.entry_ == nullptr;
  }

  /// A "shared" handle, for any thread: one count that all threads write. It never becomes a held
  /// one again: that an evicted object has no held ones left is only final because of that.
  SharedMetaInfo share() const { return entry_ == nullptr ? nullptr : entry_->object; }

  /// Of the cached object, the same for all its handles: see MetaInfoEntry. Pre: not null.
  std::atomic<std::uint32_t>& seen_at() const { return entry_->seen_at; }

 private:
  friend class MetaInfoCache;

  MetaInfoPtr(const MetaInfoEntry& entry, MetaInfoReader& reader)
      : entry_(&entry), reader_(&reader) {
    reader.count(entry.number, 1);
  }

  const MetaInfoEntry* entry_ = nullptr;
  MetaInfoReader* reader_ = nullptr;  ///< Whose count it is; null: the entry is this handle's.
};

}  // namespace orlop
