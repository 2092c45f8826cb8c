#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <utility>

#include "metadata/metainfo_cache.h"
#include "tests/metadata/sample_blobs.h"

namespace {

/// How often this thread asked for memory, in the whole test program.
constinit thread_local std::uint64_t allocations = 0;

void* counted(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

void* counted_aligned(std::size_t bytes, std::align_val_t alignment) {
  ++allocations;
  const auto unit = static_cast<std::size_t>(alignment);
  void* memory = std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return counted(bytes); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted_aligned(bytes, alignment);
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted_aligned(bytes, alignment);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }

namespace orlop {
namespace {

TEST_CASE("metainfo cache: no read allocates, whether it hits or misses, or begins a turn") {
  Random random(1);
  MetaInfoCache cache({}, random);
  const auto here = sample_digest(1);
  const auto absent = sample_digest(2);
  (void)cache.insert(sample_metainfo(here), cache.version(here));
  MetaInfoReader reader(cache);

  const auto before = allocations;
  std::size_t bytes = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto hit = cache.get(here, MetadataKind::torrent_meta);
    if (hit && *hit) bytes += (*hit)->json().size();
    const auto miss = cache.get(absent, MetadataKind::torrent_meta);
    if (!miss || *miss) bytes = 0;
    if (const auto* borrowed = cache.find(here)) bytes += borrowed->json().size();
    auto moved = *cache.get(here, MetadataKind::torrent_meta);
    std::array<MetaInfoPtr, 2> kept;
    kept[1] = std::move(moved);
    if (i % 10 == 0) reader.rest();
  }
  const auto after = allocations;
  CHECK(after == before);
  CHECK(bytes == 2000 * sample_metainfo(here).json().size());

  // That this test can see an allocation at all.
  (void)cache.share(absent);
  const auto shared = std::make_shared<int>(1);
  CHECK(allocations > after);
}

}  // namespace
}  // namespace orlop
