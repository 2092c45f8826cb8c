#include "metadata/metainfo_cache.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/metadata/sample_blobs.h"

namespace orlop {
namespace {

MetaInfo numbered(int number) { return sample_metainfo(sample_digest(number)); }

/// A cache with room for about this many of the numbered objects.
class SmallCache {
 public:
  explicit SmallCache(std::uint64_t entries)
      : cache({.bytes_max = entries * MetaInfoCache::bytes_of(numbered(0)) * 8 / 7 + 8}, random) {}

  void put(int number) {
    const auto digest = sample_digest(number);
    (void)cache.insert(numbered(number), cache.version(digest));
  }
  MetaInfoPtr held(int number) {
    auto got = cache.get(sample_digest(number), MetadataKind::torrent_meta);
    REQUIRE(got);
    return *std::move(got);
  }

  Random random{17};
  MetaInfoCache cache;
};

TEST_CASE("metainfo cache: what was put in is found, and nothing else") {
  SmallCache small(100);
  const MetaInfoReader reader(small.cache);
  for (int number = 0; number < 50; ++number) small.put(number);
  for (int number = 0; number < 50; ++number) {
    const auto held = small.held(number);
    REQUIRE(held);
    CHECK(held->json() == numbered(number).json());
    CHECK(small.cache.find(sample_digest(number)) == held.get());
    CHECK(small.cache.share(sample_digest(number)).get() == held.get());
  }
  CHECK(small.held(50) == nullptr);
  CHECK(small.cache.find(sample_digest(50)) == nullptr);
  CHECK(small.cache.share(sample_digest(50)) == nullptr);
  CHECK(small.cache.use().entries == 50);
}

TEST_CASE("metainfo cache: the second object of a digest is dropped for the first") {
  SmallCache small(10);
  const auto digest = sample_digest(1);
  const auto first = small.cache.insert(numbered(1), small.cache.version(digest));
  const auto second = small.cache.insert(numbered(1), small.cache.version(digest));
  CHECK(first == second);
  CHECK(small.cache.use().entries == 1);
}

TEST_CASE("metainfo cache: a kind that can change is refused before any look-up") {
  SmallCache small(10);
  small.put(1);
  const MetaInfoReader reader(small.cache);
  for (const auto kind : {MetadataKind::persist, MetadataKind::last_access}) {
    for (const int number : {1, 2}) {
      const auto got = small.cache.get(sample_digest(number), kind);
      REQUIRE_FALSE(got);
      CHECK(got.error().code() == Errc::invariant_violation);
      CHECK(got.error().detail().find(to_string(kind)) != std::string::npos);
    }
  }
}

TEST_CASE("metainfo cache: what was erased is not found, and stays good for whoever holds it") {
  SmallCache small(10);
  MetaInfoReader reader(small.cache);
  small.put(1);
  auto held = small.held(1);
  const auto shared = held.share();
  small.cache.erase(sample_digest(1));
  CHECK(small.held(1) == nullptr);
  CHECK(small.cache.use().entries == 0);

  for (int number = 2; number < 40; ++number) {
    reader.rest();
    small.put(number);
  }
  CHECK(held->digest() == sample_digest(1));
  CHECK(held->json() == numbered(1).json());

  held = MetaInfoPtr();
  reader.rest();
  small.put(40);
  CHECK(shared->json() == numbered(1).json());
  CHECK(small.cache.use().retired_bytes >= MetaInfoCache::bytes_of(*shared));
}

TEST_CASE("metainfo cache: what was looked up before a change does not get in after it") {
  SmallCache small(10);
  const auto digest = sample_digest(1);
  const auto before = small.cache.version(digest);
  small.cache.erase(digest);
  const auto uncached = small.cache.insert(numbered(1), before);
  CHECK(uncached->digest() == digest);
  CHECK(small.cache.share(digest) == nullptr);
  small.put(1);
  CHECK(small.cache.share(digest) != nullptr);
}

TEST_CASE("metainfo cache: a change of the catalogue makes it forget the digest") {
  TemporaryDirectory directory;
  ManualClock clock;
  Random random(5);
  MetaInfoCache cache({}, random);
  auto catalogue =
      open_catalogue({.path = directory.path() / "db", .clock = &clock, .metainfo_cache = &cache});
  const auto digest = sample_digest(1);
  const auto fill = [&] {
    (void)cache.insert(numbered(1), cache.version(digest));
    REQUIRE(cache.share(digest) != nullptr);
  };
  fill();
  REQUIRE(commit_group(*catalogue, {1}));
  CHECK(cache.share(digest) == nullptr);
  fill();
  REQUIRE(catalogue->put_metainfo(*MetaInfo::make(digest, 8, 8, {5})));
  CHECK(cache.share(digest) == nullptr);
  fill();
  REQUIRE(catalogue->drop_fingerprint(digest));
  CHECK(cache.share(digest) == nullptr);
  fill();
  REQUIRE(catalogue->remove(digest));
  CHECK(cache.share(digest) == nullptr);
}

TEST_CASE("metainfo cache: it never takes more than its limit, and the untouched go first") {
  SmallCache small(100);
  MetaInfoReader reader(small.cache);
  const auto bytes_max = 100 * MetaInfoCache::bytes_of(numbered(0)) * 8 / 7 + 8;
  for (int number = 0; number < 1000; ++number) {
    small.put(number);
    REQUIRE(small.held(0) != nullptr);  // Read all the time: it stays.
    reader.rest();
    const auto use = small.cache.use();
    CHECK(use.bytes + use.retired_bytes <= bytes_max);
  }
  const auto use = small.cache.use();
  CHECK(use.entries >= 98);
  CHECK(use.evictions >= 890);
  CHECK(use.refused == 0);
}

TEST_CASE("metainfo cache: blobs that nobody asks for drive out a tenth of the others at most") {
  SmallCache small(100);
  MetaInfoReader reader(small.cache);
  for (int number = 0; number < 95; ++number) {
    small.put(number);
    REQUIRE(small.held(number) != nullptr);
  }
  reader.rest();
  for (int number = 100; number < 1100; ++number) small.put(number);
  int kept = 0;
  for (int number = 0; number < 95; ++number) {
    if (small.cache.share(sample_digest(number)) != nullptr) ++kept;
  }
  CHECK(kept >= 88);
  CHECK(small.held(1099) != nullptr);  // Nor do they find no room at all.
}

TEST_CASE("metainfo cache: objects that come and are erased leave the others alone") {
  SmallCache small(100);
  MetaInfoReader reader(small.cache);
  for (int number = 0; number < 10; ++number) small.put(number);
  for (int i = 0; i < 5000; ++i) {
    small.put(50);
    small.cache.erase(sample_digest(50));
  }
  for (int number = 0; number < 10; ++number) CHECK(small.held(number) != nullptr);
  CHECK(small.cache.use().evictions == 0);
  CHECK(small.cache.use().retired_bytes <= MetaInfoCache::bytes_of(numbered(0)));
}

TEST_CASE("metainfo cache: what a reader may still look at is not free, and counts") {
  SmallCache small(100);
  MetaInfoReader reader(small.cache);
  for (int number = 0; number < 100; ++number) small.put(number);
  const auto* borrowed = small.cache.find(sample_digest(0));
  REQUIRE(borrowed != nullptr);
  // It does not rest: what is evicted from now on cannot go, until there is no room for more.
  for (int number = 100; number < 400; ++number) small.put(number);
  auto use = small.cache.use();
  CHECK(use.retired_bytes > 0);
  CHECK(use.refused > 0);
  CHECK(borrowed->digest() == sample_digest(0));
  CHECK(borrowed->json() == numbered(0).json());

  reader.rest();
  for (int number = 400; number < 500; ++number) small.put(number);
  use = small.cache.use();
  CHECK(use.retired_bytes <= MetaInfoCache::bytes_of(numbered(0)));
  CHECK(small.held(499) != nullptr);
}

TEST_CASE("metainfo cache: an object larger than the cache is handed back uncached") {
  Random random(3);
  MetaInfoCache none({.bytes_max = 0}, random);
  const auto digest = sample_digest(1);
  const auto object = none.insert(numbered(1), none.version(digest));
  CHECK(object->digest() == digest);
  CHECK(none.share(digest) == nullptr);
  CHECK(none.use().bytes == 0);
}

TEST_CASE("metainfo cache: a thread without a reader gets a handle that may die anywhere") {
  SmallCache small(10);
  small.put(1);
  auto held = small.held(1);
  REQUIRE(held);
  const auto* address = held.get();
  {
    const MetaInfoReader reader(small.cache);
    CHECK(small.held(1).get() == address);
  }
  std::thread([moved = std::move(held)] {}).join();
}

TEST_CASE("metainfo cache: the reader is told once when it begins to look") {
  SmallCache small(10);
  int told = 0;
  MetaInfoReader reader(small.cache, [&] { ++told; });
  CHECK(told == 0);
  for (int i = 0; i < 3; ++i) CHECK(small.held(1) == nullptr);
  CHECK(told == 1);
  reader.rest();
  CHECK(small.held(1) == nullptr);
  CHECK(told == 2);
}

TEST_CASE("metainfo cache: digests that begin alike are told apart and found quickly") {
  Random random(9);
  MetaInfoCache cache({.bytes_max = 64 << 20}, random);
  // All alike but for bytes 8 to 10: what somebody gets who searches for digests that collide.
  std::vector<Digest> digests;
  for (int number = 0; number < 20'000; ++number) {
    std::array<std::uint8_t, Digest::kBytes> bytes = {};
    bytes[8] = static_cast<std::uint8_t>(number);
    bytes[9] = static_cast<std::uint8_t>(number >> 8);
    digests.emplace_back(bytes);
    (void)cache.insert(sample_metainfo(digests.back()), cache.version(digests.back()));
  }
  const MetaInfoReader reader(cache);
  const auto begin = std::chrono::steady_clock::now();
  std::size_t right = 0;
  for (const auto& digest : digests) {
    const auto* found = cache.find(digest);
    if (found != nullptr && found->digest() == digest) ++right;
  }
  // In one cluster this would be 200 million slots: half a second at the very best.
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(250));
  CHECK(right == digests.size());
}

}  // namespace
}  // namespace orlop
