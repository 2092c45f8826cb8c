#include <array>
#include <atomic>
#include <catch2/catch.hpp>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "metadata/metainfo_cache.h"
#include "tests/metadata/sample_blobs.h"

namespace orlop {
namespace {

constexpr int kHot = 16;        // If one is evicted, it is put in again.
constexpr int kChurned = 2000;  // Of these a few hundred fit.
constexpr std::size_t kReaders = 3;
constexpr std::size_t kHeld = 256;

struct Samples {
  Samples() {
    for (int number = 0; number < kHot + kChurned; ++number) {
      digests.push_back(sample_digest(number));
    }
  }
  std::vector<Digest> digests;
};

/// Where the one object of a hot digest is. The number is odd while that changes.
struct Address {
  std::atomic<std::uint64_t> changes = 0;
  std::atomic<const MetaInfo*> object = nullptr;
};
using Addresses = std::array<Address, kHot>;

/// Gets, holds some over many turns, shares some, borrows some, and says how often what it got was
/// not what it asked for.
class ReadingThread {
 public:
  ReadingThread(MetaInfoCache& cache, const Samples& samples, const Addresses& hot,
                const std::atomic<bool>& stop, unsigned seed)
      : cache_(cache), samples_(samples), hot_(hot), stop_(stop), chance_(seed), thread_([this] {
          run();
        }) {}
  void join() { thread_.join(); }

  std::uint64_t wrong = 0;
  std::uint64_t hits = 0;
  std::uint64_t compared = 0;  ///< Addresses.

 private:
  void run() {
    MetaInfoReader reader(cache_);
    std::vector<MetaInfoPtr> held(kHeld);
    std::vector<SharedMetaInfo> shared(kHeld);
    for (std::uint64_t turn = 0; !stop_.load(std::memory_order_relaxed); ++turn) {
      for (int i = 0; i < 32; ++i) read_one(held, shared);
      for (std::size_t number = 0; number < kHot; ++number) read_hot(number);
      reader.rest();
    }
  }

  void read_one(std::vector<MetaInfoPtr>& held, std::vector<SharedMetaInfo>& shared) {
    const auto& digest = samples_.digests[kHot + chance_() % kChurned];
    if (const auto* borrowed = cache_.find(digest)) check(*borrowed, digest);
    auto got = cache_.get(digest, MetadataKind::torrent_meta);
    if (!got || !*got) return;
    ++hits;
    check(**got, digest);
    auto& place = held[chance_() % kHeld];
    if (place) check(*place, place->digest());  // Perhaps evicted long ago.
    if (chance_() % 8 == 0) shared[chance_() % kHeld] = got->share();
    place = *std::move(got);
  }

  void read_hot(std::size_t number) {
    const auto& address = hot_[number];
    const auto before = address.changes.load();
    const auto got = cache_.get(samples_.digests[number], MetadataKind::torrent_meta);
    const auto* expected = address.object.load();
    if (!got || !*got) return;
    check(**got, samples_.digests[number]);
    if (before % 2 == 1 || address.changes.load() != before) return;
    if (got->get() != expected) ++wrong;
    ++compared;
  }

  void check(const MetaInfo& found, const Digest& wanted) {
    const bool right = found.digest() == wanted && found.piece_sums()[1] == 2 &&
                       found.json().starts_with("{\"Info\":{\"PieceLength\":4");
    if (!right) ++wrong;
  }

  MetaInfoCache& cache_;
  const Samples& samples_;
  const Addresses& hot_;
  const std::atomic<bool>& stop_;
  std::minstd_rand chance_;
  std::thread thread_;  // Last: it uses all of the above.
};

TEST_CASE(
    "metainfo cache: all threads see one address a digest, and good bytes for as long as they "
    "hold them, while entries are evicted and erased and the table grows") {
  const Samples samples;
  Random random(11);
  // Tables of 64 slots at first, and up to 2,048: it grows several times under the readers.
  MetaInfoCache cache(
      {.bytes_max = 400 * MetaInfoCache::bytes_of(sample_metainfo(sample_digest(0)))}, random);
  Addresses hot;
  const auto put_hot = [&] {
    for (std::size_t number = 0; number < kHot; ++number) {
      const auto& digest = samples.digests[number];
      if (cache.share(digest) != nullptr) continue;
      ++hot[number].changes;
      hot[number].object = cache.insert(sample_metainfo(digest), cache.version(digest)).get();
      ++hot[number].changes;
    }
  };
  put_hot();
  std::atomic<bool> stop = false;
  std::vector<std::unique_ptr<ReadingThread>> readers;
  for (unsigned seed = 1; seed <= kReaders; ++seed) {
    readers.push_back(std::make_unique<ReadingThread>(cache, samples, hot, stop, seed));
  }
  std::minstd_rand chance(77);
  // How much is evicted depends on how often the readers get to rest.
  for (int i = 0; i < 30'000 || (cache.use().evictions < 1000 && i < 3'000'000); ++i) {
    const auto& digest = samples.digests[kHot + chance() % kChurned];
    if (i % 10 == 0) {
      cache.erase(digest);
    } else {
      (void)cache.insert(sample_metainfo(digest), cache.version(digest));
    }
    if (i % 32 == 0) put_hot();
  }
  stop = true;
  for (auto& reader : readers) {
    reader->join();
    CHECK(reader->wrong == 0);
    CHECK(reader->hits > 100);
    CHECK(reader->compared > 100);
  }
  CHECK(cache.use().evictions >= 1000);
}

}  // namespace
}  // namespace orlop
