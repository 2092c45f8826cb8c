#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "core/digest.h"
#include "core/metainfo.h"

namespace orlop {

/// One object of the metainfo cache. One cache line, which only its readers' first touch since the
/// last sweep and the once-a-second `seen_at` ever write to: what is counted for each read lies
/// elsewhere (metadata/metainfo_reader.h).
struct alignas(64) MetaInfoEntry {
  /// The number of an entry that no cache has.
  static constexpr std::uint32_t kDetached = 0xffffffff;

  MetaInfoEntry(SharedMetaInfo of, std::uint32_t with_number)
      : digest(of->digest()), object(std::move(of)), number(with_number) {}

  const Digest digest;
  SharedMetaInfo object;  ///< Not null.
  const std::uint32_t number;
  /// When somebody last knew that the blob is here; the owner of the cache says in which unit.
  mutable std::atomic<std::uint32_t> seen_at = 0;
  mutable std::atomic<bool> touched = false;  ///< Since the sweep last came by.
};

static_assert(sizeof(MetaInfoEntry) == 64);

/// Where a digest goes in a table, by two secret numbers. Whoever can upload chooses digests by
/// trying, but cannot choose their places without these.
struct DigestMix {
  std::uint64_t first;
  std::uint64_t second;

  std::uint64_t operator()(const Digest& digest) const {
    __extension__ using Wide = unsigned __int128;
    std::uint64_t a;
    std::uint64_t b;
    std::memcpy(&a, digest.bytes().data(), sizeof a);
    std::memcpy(&b, digest.bytes().data() + sizeof a, sizeof b);
    const Wide product = static_cast<Wide>(a ^ first) * (b ^ second);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
};

/// Digest -> entry, open addressing with linear probing: any number of threads look while one
/// changes it. It never grows; whoever owns it replaces it by another when it is `crowded`.
///
/// A slot is 8 bytes: the entry's address and 16 bits of the mixed digest, so a miss costs one
/// line and a hit two. An erased slot stays as a tombstone for as long as something may lie
/// beyond it: moving entries back would let a reader miss one that is there.
class MetaInfoTable {
 public:
  /// Room for `entries`, before it is crowded.
  MetaInfoTable(std::size_t entries, DigestMix mix);

  /// Null if it is not here. Any thread. Only the caller knows how long the entry lives.
  const MetaInfoEntry* find(const Digest& digest) const {
    const auto mixed = mix_(digest);
    const auto tag = tag_of(mixed);
    for (auto i = mixed & mask_;; i = (i + 1) & mask_) {
      const auto slot = slots_[i].load(std::memory_order_acquire);
      if (slot == kEmpty) return nullptr;  // There is one: the table is half empty.
      if ((slot & kTagMask) != tag) continue;
      // A slot is a pointer and a tag in one word. NOLINTNEXTLINE(performance-no-int-to-ptr)
      const auto* entry = reinterpret_cast<const MetaInfoEntry*>(slot >> kTagBits);
      if (is_same(entry->digest, digest)) return entry;
    }
  }

  // One thread at a time.

  /// Pre: its digest is not here, and the table is not crowded.
  void insert(const MetaInfoEntry& entry);
  /// Pre: it is here.
  void erase(const MetaInfoEntry& entry);
  /// Half of the slots are not empty: long probes begin.
  bool crowded() const { return used_ * 2 >= capacity(); }
  std::size_t capacity() const { return mask_ + 1; }

 private:
  static constexpr std::uint64_t kEmpty = 0;
  static constexpr std::uint64_t kTombstone = 1;
  static constexpr unsigned kTagBits = 16;
  static constexpr std::uint64_t kTagMask = 0xffff;

  /// By words: GCC 12 makes a call of memcmp of the comparison of two digests, a quarter of a look.
  static bool is_same(const Digest& a, const Digest& b) {
    std::array<std::uint64_t, Digest::kBytes / 8> x;
    std::array<std::uint64_t, Digest::kBytes / 8> y;
    std::memcpy(x.data(), a.bytes().data(), sizeof x);
    std::memcpy(y.data(), b.bytes().data(), sizeof y);
    return ((x[0] ^ y[0]) | (x[1] ^ y[1]) | (x[2] ^ y[2]) | (x[3] ^ y[3])) == 0;
  }

  /// From the upper end, while the place comes from the lower one. Never kEmpty or kTombstone.
  static std::uint64_t tag_of(std::uint64_t mixed) { return (mixed >> 48) | 0x8000; }

  const DigestMix mix_;
  const std::size_t mask_;
  const std::unique_ptr<std::atomic<std::uint64_t>[]> slots_;
  std::size_t used_ = 0;  ///< Entries and tombstones.
};

}  // namespace orlop
