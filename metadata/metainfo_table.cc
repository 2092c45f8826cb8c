#include "metadata/metainfo_table.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace orlop {
namespace {

constexpr std::size_t kSlotsLeast = 64;

}  // namespace

MetaInfoTable::MetaInfoTable(std::size_t entries, DigestMix mix)
    : mix_(mix),
      mask_(std::bit_ceil(std::max(kSlotsLeast, 2 * entries + 1)) - 1),
      slots_(std::make_unique<std::atomic<std::uint64_t>[]>(mask_ + 1)) {}

void MetaInfoTable::insert(const MetaInfoEntry& entry) {
  ORLOP_CHECK(!crowded());
  const auto address = reinterpret_cast<std::uint64_t>(&entry);
  ORLOP_CHECK(address >> (64 - kTagBits) == 0);  // The kernel gives more only to who asks for it.
  const auto mixed = mix_(entry.digest);
  auto i = mixed & mask_;
  auto before = slots_[i].load(std::memory_order_relaxed);
  while (before != kEmpty && before != kTombstone) {
    i = (i + 1) & mask_;
    before = slots_[i].load(std::memory_order_relaxed);
  }
  if (before == kEmpty) ++used_;
  // Release: who sees the address sees the entry.
  slots_[i].store((address << kTagBits) | tag_of(mixed), std::memory_order_release);
}

void MetaInfoTable::erase(const MetaInfoEntry& entry) {
  const auto mixed = mix_(entry.digest);
  const auto wanted = (reinterpret_cast<std::uint64_t>(&entry) << kTagBits) | tag_of(mixed);
  auto i = mixed & mask_;
  while (slots_[i].load(std::memory_order_relaxed) != wanted) {
    ORLOP_CHECK(slots_[i].load(std::memory_order_relaxed) != kEmpty);
    i = (i + 1) & mask_;
  }
  slots_[i].store(kTombstone, std::memory_order_release);
  if (slots_[(i + 1) & mask_].load(std::memory_order_relaxed) != kEmpty) return;
  // Nothing lies beyond: this tombstone, and those that lead to it, guard nothing any more.
  while (slots_[i].load(std::memory_order_relaxed) == kTombstone) {
    slots_[i].store(kEmpty, std::memory_order_release);
    --used_;
    i = (i - 1) & mask_;
  }
}

}  // namespace orlop
