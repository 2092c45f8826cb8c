#include "metadata/metainfo_cache.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace orlop {
namespace {

constexpr std::size_t kBlockEntries = 1024;

/// What any entry takes at least: the entry, its slots in a table that is between a quarter and
/// half full, its count in two readers, its place in the queue, the object, and what malloc and
/// shared_ptr add.
constexpr std::uint64_t kEntryBytes = sizeof(MetaInfoEntry) + 32 + 8 + 40 + sizeof(MetaInfo) + 64;

/// How many entries that were read since the last sweep one eviction passes. Beyond, the next one
/// goes whether or not it was read: a bound on how long the lock is held.
constexpr std::size_t kSweepMax = 64;

/// One part in so many of the entries is for those that nobody has read yet.
constexpr std::size_t kFreshShare = 10;

/// How many places at the front of their queue are looked at each time.
constexpr std::size_t kQueueLooks = 256;

/// How many held entries one insertion looks at again.
constexpr std::size_t kKeptLooks = 64;

}  // namespace

constinit thread_local MetaInfoReader* MetaInfoReader::current_ = nullptr;

MetaInfoReader::MetaInfoReader(MetaInfoCache& cache, std::function<void()> on_look)
    : cache_(cache),
      on_look_(std::move(on_look)),
      counts_(
          static_cast<std::uint32_t*>(std::calloc(cache.entries_max_ + 1, sizeof(std::uint32_t)))) {
  ORLOP_CHECK(counts_ != nullptr);
  ORLOP_CHECK(current_ == nullptr);
  current_ = this;
  const std::lock_guard lock(cache_.mutex_);
  cache_.readers_.push_back(this);
}

MetaInfoReader::~MetaInfoReader() {
  rest();
  current_ = nullptr;
  const std::lock_guard lock(cache_.mutex_);
  const auto numbers = cache_.linked_.size();
  const auto* counts = counts_.get();
  ORLOP_CHECK(std::all_of(counts, counts + numbers, [](std::uint32_t held) { return held == 0; }));
  std::erase(cache_.readers_, this);
}

void MetaInfoReader::begin_to_look() {
  looking_ = true;
  // An exchange, and the cache looks at a resting reader by one too (seen_by_all): the two have an
  // order. Either the cache sees that this reader looks, or this reader sees what was unlinked. A
  // plain store could be overtaken by the loads of the look-up.
  seen_epoch_.exchange(cache_.epoch_.load(std::memory_order_acquire), std::memory_order_acq_rel);
  if (on_look_) on_look_();
}

MetaInfoCache::MetaInfoCache(const MetaInfoCacheOptions& options, Random& random)
    : options_(options),
      entries_max_(options.bytes_max / kEntryBytes),
      mix_{.first = random.next(), .second = random.next()},
      table_(new MetaInfoTable(0, mix_)) {}

MetaInfoCache::~MetaInfoCache() {
  ORLOP_CHECK(readers_.empty());
  delete &table();
  for (const auto& one : retired_) kept_.push_back(one.entry);
  for (auto* entry : linked_) {
    if (entry != nullptr) kept_.push_back(entry);
  }
  for (auto* entry : kept_) entry->~MetaInfoEntry();
}

Error MetaInfoCache::mutable_kind(const Digest& digest, MetadataKind kind) {
  return Error(Errc::invariant_violation, std::string(to_string(kind)) + " of " +
                                              digest.to_string() +
                                              " was asked of memory, where nothing changes");
}

std::uint64_t MetaInfoCache::bytes_of(const MetaInfo& metainfo) {
  return kEntryBytes + metainfo.json().capacity() + 4 * metainfo.piece_sums().size();
}

SharedMetaInfo MetaInfoCache::share(const Digest& digest) {
  const std::lock_guard lock(mutex_);
  const auto* entry = table().find(digest);
  if (entry == nullptr) return nullptr;
  entry->touched.store(true, std::memory_order_relaxed);
  return entry->object;
}

SharedMetaInfo MetaInfoCache::insert(SharedMetaInfo object, std::uint64_t version,
                                     std::uint32_t seen_at) {
  const auto& digest = object->digest();
  const auto bytes = bytes_of(*object);
  // An eighth is for what was evicted and may still be read, so that there is always something to
  // give while readers are at work.
  const auto linked_max = options_.bytes_max - options_.bytes_max / 8;
  Garbage garbage;  // Before the lock: freed after it.
  const std::lock_guard lock(mutex_);
  if (const auto* entry = table().find(digest)) return entry->object;
  if (versions_[bucket(digest)].load(std::memory_order_relaxed) != version) return object;
  if (bytes > linked_max) return object;
  reclaim(garbage);
  while (use_.bytes + bytes > linked_max) evict_one();
  if (use_.bytes + use_.retired_bytes + bytes > options_.bytes_max) {
    ++use_.refused;
    return object;
  }
  if (table().crowded()) replace_table();
  auto* entry = make_entry(object);
  entry->seen_at.store(seen_at, std::memory_order_relaxed);
  table().insert(*entry);
  queue(*entry);
  ++use_.entries;
  use_.bytes += bytes;
  return object;
}

void MetaInfoCache::erase(const Digest& digest) {
  Garbage garbage;
  const std::lock_guard lock(mutex_);
  versions_[bucket(digest)].fetch_add(1, std::memory_order_acq_rel);
  const auto* found = table().find(digest);
  if (found == nullptr) return;
  unlink(*linked_[found->number]);
  reclaim(garbage);
}

MetaInfoCacheUse MetaInfoCache::use() const {
  const std::lock_guard lock(mutex_);
  return use_;
}

MetaInfoEntry* MetaInfoCache::make_entry(SharedMetaInfo object) {
  if (free_numbers_.empty()) {
    // Cannot be more than entries_max_: each is counted as kEntryBytes at least.
    const auto first = linked_.size();
    blocks_.push_back(std::make_unique_for_overwrite<Storage[]>(kBlockEntries));
    linked_.resize(std::min(first + kBlockEntries, entries_max_));
    serials_.resize(linked_.size());
    for (auto number = linked_.size(); number > first; --number) {
      free_numbers_.push_back(static_cast<std::uint32_t>(number - 1));
    }
  }
  ORLOP_CHECK(!free_numbers_.empty());
  const auto number = free_numbers_.back();
  free_numbers_.pop_back();
  auto* place = &blocks_[number / kBlockEntries][number % kBlockEntries];
  linked_[number] = new (place) MetaInfoEntry(std::move(object), number);
  return linked_[number];
}

/// With room for half as much again at least, or the same room without the tombstones.
void MetaInfoCache::replace_table() {
  auto larger = std::make_unique<MetaInfoTable>(use_.entries + use_.entries / 2 + 1, mix_);
  for (const auto* entry : linked_) {
    if (entry != nullptr) larger->insert(*entry);
  }
  std::unique_ptr<MetaInfoTable> before(&table());
  table_.store(larger.release(), std::memory_order_release);
  const auto epoch = epoch_.fetch_add(1, std::memory_order_acq_rel) + 1;
  retired_tables_.push_back({.epoch = epoch, .table = std::move(before)});
}

void MetaInfoCache::unlink(MetaInfoEntry& entry) {
  table().erase(entry);
  linked_[entry.number] = nullptr;
  const auto bytes = bytes_of(*entry.object);
  --use_.entries;
  use_.bytes -= bytes;
  use_.retired_bytes += bytes;
  // After the erasure: a reader that has seen this epoch cannot find the entry.
  const auto epoch = epoch_.fetch_add(1, std::memory_order_acq_rel) + 1;
  retired_.push_back({.epoch = epoch, .entry = &entry});
}

/// Pre: something is linked.
void MetaInfoCache::evict_one() {
  if (shorten_queue() && fresh_.size() * kFreshShare > use_.entries) {
    unlink(*linked_[fresh_.front().number]);
    fresh_.pop_front();
    ++use_.evictions;
    return;
  }
  for (std::size_t passed = 0;; hand_ = (hand_ + 1) % linked_.size()) {
    hand_ %= linked_.size();
    auto* entry = linked_[hand_];
    if (entry == nullptr) continue;
    const bool touched = entry->touched.exchange(false, std::memory_order_relaxed);
    if (touched && ++passed < kSweepMax) continue;
    unlink(*entry);
    ++use_.evictions;
    return;
  }
}

/// Takes what was read or erased from the front: what was read is left to the sweep. Whether what
/// stands there now is unread.
bool MetaInfoCache::shorten_queue() {
  for (std::size_t passed = 0; !fresh_.empty() && passed < kQueueLooks; ++passed) {
    const auto& first = fresh_.front();
    const bool unread =
        !is_gone(first) && !linked_[first.number]->touched.load(std::memory_order_relaxed);
    if (unread) return true;
    fresh_.pop_front();
  }
  return false;
}

bool MetaInfoCache::is_gone(const Fresh& one) const {
  return linked_[one.number] == nullptr || serials_[one.number] != one.serial;
}

/// Puts a new entry at the end of those that nobody has read.
void MetaInfoCache::queue(const MetaInfoEntry& entry) {
  (void)shorten_queue();
  if (fresh_.size() > 2 * use_.entries + kBlockEntries) {
    std::erase_if(fresh_, [this](const Fresh& one) { return is_gone(one); });
  }
  serials_[entry.number] = ++last_serial_;
  fresh_.push_back({.number = entry.number, .serial = last_serial_});
}

/// The last epoch that every reader has seen that may be looking.
std::uint64_t MetaInfoCache::seen_by_all() const {
  auto seen = MetaInfoReader::kResting;
  for (auto* reader : readers_) {
    auto one = reader->seen_epoch_.load(std::memory_order_acquire);
    if (one == MetaInfoReader::kResting) {
      one = reader->seen_epoch_.fetch_add(0, std::memory_order_acq_rel);
    }
    seen = std::min(seen, one);
  }
  return seen;
}

/// Pre: nobody borrows it, so nobody can begin to hold or share it.
bool MetaInfoCache::is_in_use(const MetaInfoEntry& entry) const {
  for (const auto* reader : readers_) {
    std::atomic_ref<std::uint32_t> held(reader->counts_.get()[entry.number]);
    if (held.load(std::memory_order_acquire) != 0) return true;
  }
  return entry.object.use_count() > 1;
}

void MetaInfoCache::reclaim(Garbage& garbage) {
  if (retired_.empty() && kept_.empty() && retired_tables_.empty()) return;
  const auto seen = seen_by_all();
  while (!retired_tables_.empty() && retired_tables_.front().epoch <= seen) {
    retired_tables_.pop_front();
  }
  while (!retired_.empty() && retired_.front().epoch <= seen) {
    kept_.push_front(retired_.front().entry);
    retired_.pop_front();
  }
  for (auto looks = std::min(kKeptLooks, kept_.size()); looks > 0; --looks) {
    auto* entry = kept_.front();
    kept_.pop_front();
    if (is_in_use(*entry)) {
      kept_.push_back(entry);
      continue;
    }
    use_.retired_bytes -= bytes_of(*entry->object);
    free_numbers_.push_back(entry->number);
    garbage.push_back(std::move(entry->object));
    entry->~MetaInfoEntry();
  }
}

}  // namespace orlop
