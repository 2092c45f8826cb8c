#include "metadata/encoded_lru.h"

#include <algorithm>
#include <functional>
#include <new>
#include <utility>

#include "base/check.h"

namespace orlop {
namespace {

constexpr std::size_t kScratchKept = 64 * 1024;  // A larger one is given back.

std::uint64_t hash_of(std::string_view key) { return std::hash<std::string_view>()(key); }

}  // namespace

/// One block of memory: this, the key, the value.
struct EncodedLru::Entry {
  Entry* newer = nullptr;
  Entry* older = nullptr;
  Entry* chain = nullptr;  ///< The next in the bucket.
  std::uint64_t hash = 0;
  std::uint64_t generation = 0;
  Clock::Steady expires_at{};  ///< The epoch: never.
  std::size_t key_bytes = 0;
  std::size_t value_bytes = 0;

  char* data() { return reinterpret_cast<char*>(this + 1); }
  const char* data() const { return reinterpret_cast<const char*>(this + 1); }
  std::string_view key() const { return {data(), key_bytes}; }
  std::string_view value() const { return {data() + key_bytes, value_bytes}; }
  std::size_t cost() const { return kEntryBytes + key_bytes + value_bytes; }

  static Entry* make(std::string_view key, std::string_view value) {
    auto* entry = new (::operator new(sizeof(Entry) + key.size() + value.size())) Entry;
    entry->key_bytes = key.size();
    entry->value_bytes = value.size();
    std::copy(key.begin(), key.end(), entry->data());
    std::copy(value.begin(), value.end(), entry->data() + key.size());
    return entry;
  }
  /// Frees what hangs together by `chain`.
  static void free_all(Entry* entry) {
    while (entry != nullptr) ::operator delete(std::exchange(entry, entry->chain));
  }
};

EncodedLru::Scratch::Scratch() {
  thread_local std::string of_this_thread;
  bytes_ = &of_this_thread;
}

EncodedLru::Scratch::~Scratch() {
  if (bytes_->capacity() > kScratchKept) std::string().swap(*bytes_);
}

EncodedLru::EncodedLru(EncodedLruOptions options) : options_(std::move(options)) {
  static_assert(sizeof(Entry) == kEntryBytes);
  ORLOP_CHECK(options_.entries_max > 0);
}

EncodedLru::~EncodedLru() {
  while (oldest_ != nullptr) ::operator delete(std::exchange(oldest_, oldest_->newer));
}

bool EncodedLru::set_bytes(std::string_view key, std::string_view bytes,
                           std::chrono::nanoseconds expiry) {
  const auto hash = hash_of(key);
  Entry* entry = nullptr;
  if (kEntryBytes + key.size() + bytes.size() <= options_.bytes_max) {
    entry = Entry::make(key, bytes);
    entry->hash = hash;
    if (expiry.count() != 0) {
      ORLOP_CHECK(options_.clock != nullptr);
      entry->expires_at = options_.clock->steady() + expiry;
    }
  }
  Entry* dead = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (auto** old = place(hash, key); *old != nullptr) dead = take_out(old);
    if (entry != nullptr) {
      entry->generation = generation_;
      if (entries_ > 0 && entries_ >= buckets_.size()) grow();
      entry->chain = std::exchange(bucket(hash), entry);
      link_newest(*entry);
      ++entries_;
      ++length_;
      bytes_ += entry->cost();
      while (entries_ > options_.entries_max || bytes_ > options_.bytes_max) {
        auto* displaced = take_out(place(oldest_->hash, oldest_->key()));
        displaced->chain = std::exchange(dead, displaced);
      }
    }
  }
  Entry::free_all(dead);
  return entry != nullptr;
}

bool EncodedLru::get_bytes(std::string_view key, std::string& out) {
  const auto hash = hash_of(key);
  Entry* dead = nullptr;
  {
    const std::lock_guard lock(mutex_);
    auto** found = place(hash, key);
    if (*found == nullptr) return false;
    if (alive(**found)) {
      auto& entry = **found;
      if (newest_ != &entry) {
        unlink(entry);
        link_newest(entry);
      }
      out.assign(entry.value());
      return true;
    }
    dead = take_out(found);
  }
  Entry::free_all(dead);
  return false;
}

bool EncodedLru::remove(std::string_view key) {
  Entry* dead = nullptr;
  bool was_there = false;
  {
    const std::lock_guard lock(mutex_);
    auto** found = place(hash_of(key), key);
    if (*found == nullptr) return false;
    was_there = alive(**found);
    dead = take_out(found);
  }
  Entry::free_all(dead);
  return was_there;
}

void EncodedLru::purge() {
  const std::lock_guard lock(mutex_);
  ++generation_;
  length_ = 0;
}

std::vector<std::string> EncodedLru::keys() const {
  std::vector<std::string> keys;
  const std::lock_guard lock(mutex_);
  keys.reserve(length_);
  for (const auto* entry = oldest_; entry != nullptr; entry = entry->newer) {
    if (entry->generation == generation_) keys.emplace_back(entry->key());
  }
  return keys;
}

std::size_t EncodedLru::length() const {
  const std::lock_guard lock(mutex_);
  return length_;
}

EncodedLru::Entry** EncodedLru::place(std::uint64_t hash, std::string_view key) {
  auto** place = &bucket(hash);
  while (*place != nullptr && ((*place)->hash != hash || (*place)->key() != key)) {
    place = &(*place)->chain;
  }
  return place;
}

EncodedLru::Entry*& EncodedLru::bucket(std::uint64_t hash) {
  return buckets_.empty() ? one_bucket_ : buckets_[hash & (buckets_.size() - 1)];
}

bool EncodedLru::alive(const Entry& entry) const {
  if (entry.generation != generation_) return false;
  return entry.expires_at == Clock::Steady{} || options_.clock->steady() < entry.expires_at;
}

void EncodedLru::unlink(Entry& entry) {
  (entry.newer == nullptr ? newest_ : entry.newer->older) = entry.older;
  (entry.older == nullptr ? oldest_ : entry.older->newer) = entry.newer;
}

void EncodedLru::link_newest(Entry& entry) {
  entry.newer = nullptr;
  entry.older = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer) = &entry;
  newest_ = &entry;
}

EncodedLru::Entry* EncodedLru::take_out(Entry** place) {
  auto* entry = *place;
  *place = std::exchange(entry->chain, nullptr);
  unlink(*entry);
  --entries_;
  if (entry->generation == generation_) --length_;
  bytes_ -= entry->cost();
  return entry;
}

void EncodedLru::grow() {
  std::vector<Entry*> larger(buckets_.empty() ? 8 : 2 * buckets_.size(), nullptr);
  buckets_.swap(larger);
  for (auto* entry = oldest_; entry != nullptr; entry = entry->newer) {
    entry->chain = std::exchange(bucket(entry->hash), entry);
  }
  one_bucket_ = nullptr;
}

}  // namespace orlop
