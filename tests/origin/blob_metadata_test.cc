#include "origin/blob_metadata.h"

#include <catch2/catch.hpp>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/crc32.h"
#include "core/digester.h"
#include "origin/catalogue_journal.h"
#include "origin/eviction.h"
#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

constexpr const char* kText = "the bytes of the blob";

/// Everything between a digest and what is known of it.
struct Facts {
  static std::filesystem::path made(const std::filesystem::path& path) {
    std::filesystem::create_directories(path);
    return path;
  }
  std::unique_ptr<Catalogue> opened() {
    auto result = Catalogue::open(
        {.path = directory.path() / "db", .clock = &clock, .metainfo_cache = &cache});
    ORLOP_CHECK(result.has_value());
    return *std::move(result);
  }
  static MetaInfo cut(const std::string& text) {
    return *MetaInfo::make(digest_of(text), text.size(), 4096, {crc32(0, bytes(text))});
  }
  static std::span<const std::byte> bytes(const std::string& text) {
    return std::as_bytes(std::span(text));
  }

  SharedMetaInfo to_memory(const std::string& text) {
    const auto all = bytes(text);
    auto object = std::make_shared<const MetaInfo>(cut(text));
    REQUIRE(memory.put({.bytes = {all.begin(), all.end()}, .metainfo = object}));
    return object;
  }
  void to_disk(const std::string& text) {
    const auto digest = digest_of(text);
    made(layout.blob_folder(digest));
    auto file = *disk.create(layout.blob(digest));
    REQUIRE(disk.write(file, bytes(text), 0));
    const auto object = cut(text);
    const CommitEntry entry{.blob = {.size_bytes = text.size(),
                                     .blocks = 8,
                                     .committed_at = 1'796'000'000,
                                     .backed = true,
                                     .fingerprint = fingerprint_of(*disk.stat(file))},
                            .metainfo = &object,
                            .task = std::nullopt,
                            .digest = digest};
    REQUIRE(catalogue->commit({&entry, 1}));
  }

  Result<const MetaInfo*> torrent_meta(Digest digest) {
    std::optional<Result<const MetaInfo*>> found;
    auto ask = [&]() -> Task<> {
      auto got = co_await metadata.torrent_meta(digest);
      if (!got) {
        found.emplace(got.error());
        co_return;
      }
      found.emplace(got->get());
      handles.push_back(*std::move(got));  // So that the address stays this object's.
    };
    asio::co_spawn(io, ask(), rethrow);
    io.restart();
    const auto guard = asio::make_work_guard(io);
    while (!found) io.run_one();
    return *found;
  }

  TemporaryDirectory directory;
  Layout layout{.upload_dir = made(directory.path() / "upload"),
                .cache_dir = made(directory.path() / "cache")};
  ManualClock clock;
  Random random{7};
  WatchedDisk disk;
  asio::io_context io;
  PieceLengths lengths = *PieceLengths::make({{0, 4096}});
  MetaInfoCache cache{{}, random};
  std::unique_ptr<Catalogue> catalogue = opened();
  LastAccess last_access{*catalogue};
  DigestClaims claims;
  OpenBlobs open_blobs;
  BlobFiles files{disk, clock, layout};
  MemoryStore memory{1 << 20};
  BlobSettlement settlement{disk, clock, files, *catalogue, claims, lengths, layout};
  WorkerPool pool{1, 10};
  BlobLookup lookup{settlement, claims, open_blobs, disk, clock, pool};
  BlobMetaInfo metainfo{lookup, *catalogue, cache, memory, files, disk, lengths, pool, clock};
  BlobMetadata metadata{metainfo, *catalogue, memory};
  std::vector<MetaInfoPtr> handles;
};

enum class Where : std::uint8_t { memory_only, disk, both, absent };

Digest put(Facts& facts, Where where) {
  if (where == Where::disk || where == Where::both) facts.to_disk(kText);
  if (where == Where::memory_only || where == Where::both) facts.to_memory(kText);
  return digest_of(kText);
}

TEST_CASE("metadata: the metainfo of a blob is one object, in memory, on the disk or in both") {
  const auto where = GENERATE(Where::memory_only, Where::disk, Where::both);
  Facts facts;
  const auto digest = put(facts, where);
  const auto first = facts.torrent_meta(digest);
  REQUIRE(first);
  CHECK((**first).json() == Facts::cut(kText).json());
  for (int i = 0; i < 3; ++i) {
    const auto again = facts.torrent_meta(digest);
    REQUIRE(again);
    CHECK(*again == *first);
    facts.clock.advance(std::chrono::seconds(2));  // Beyond what memory is trusted for.
  }
  CHECK(facts.metadata.violations(MetadataKind::torrent_meta) == 0);
}

TEST_CASE("metadata: a blob that reaches the disk keeps the object that it had in memory") {
  Facts facts;
  const auto in_memory = facts.to_memory(kText);
  const auto digest = digest_of(kText);
  const auto before = facts.torrent_meta(digest);
  REQUIRE(before);
  CHECK(*before == in_memory.get());
  facts.to_disk(kText);
  const auto both = facts.torrent_meta(digest);
  REQUIRE(both);
  CHECK(*both == in_memory.get());
  facts.memory.remove(digest);
  const auto on_disk = facts.torrent_meta(digest);
  REQUIRE(on_disk);
  CHECK(*on_disk == in_memory.get());
}

TEST_CASE("metadata: what can change is asked of the disk, and never of memory") {
  const auto where = GENERATE(Where::memory_only, Where::disk, Where::both, Where::absent);
  CAPTURE(static_cast<int>(where));
  Facts facts;
  const auto digest = put(facts, where);
  const auto persist = facts.metadata.persist(digest);
  const auto last_access = facts.metadata.last_access(digest);
  const auto only = facts.metadata.is_memory_only(digest);
  REQUIRE(only);
  CHECK(*only == (where == Where::memory_only));
  const bool has_record = where == Where::disk || where == Where::both;
  REQUIRE(persist.has_value() == has_record);
  REQUIRE(last_access.has_value() == has_record);
  const std::uint64_t violations = where == Where::memory_only ? 1 : 0;
  CHECK(facts.metadata.violations(MetadataKind::persist) == violations);
  CHECK(facts.metadata.violations(MetadataKind::last_access) == violations);
  if (has_record) {
    CHECK_FALSE(*persist);
    CHECK(*last_access == facts.catalogue->current_hour());
    return;
  }
  const auto expected = where == Where::absent ? Errc::not_found : Errc::invariant_violation;
  CHECK(persist.error().code() == expected);
  CHECK(last_access.error().code() == expected);
  if (where == Where::absent) CHECK(facts.torrent_meta(digest).error().code() == Errc::not_found);
}

TEST_CASE("metadata: a blob that is owed to a backend persists") {
  Facts facts;
  const auto digest = put(facts, Where::disk);
  REQUIRE(facts.catalogue->add_task({.kind = TaskKind::write_back,
                                     .digest = digest,
                                     .name_space = "library/busybox",
                                     .delay = {},
                                     .created_at = 1'796'000'000}));
  const auto persist = facts.metadata.persist(digest);
  REQUIRE(persist);
  CHECK(*persist);
}

TEST_CASE("metadata: eviction, clean-up and listing pass over blobs that are in memory only") {
  Facts facts;
  const auto in_memory = put(facts, Where::memory_only);
  facts.to_disk("another blob");
  facts.clock.advance(std::chrono::hours(100));
  Removal removal(facts.lookup, facts.files, *facts.catalogue, facts.claims, facts.open_blobs,
                  facts.pool, facts.clock, {.evict_unbacked = true});
  EvictionOptions options;
  options.idle_max = std::chrono::hours(1);
  Eviction eviction(
      removal, *facts.catalogue, facts.last_access, facts.pool, facts.layout, facts.clock,
      [] { return SpaceUse{.total_bytes = 100, .free_bytes = 50}; }, options);

  const auto listed = facts.catalogue->list(std::nullopt, 10);
  REQUIRE(listed);
  CHECK(listed->size() == 1);
  const auto rest = [](std::chrono::nanoseconds) { return true; };
  REQUIRE(eviction.run_due(rest));  // From here on the interval counts.
  facts.clock.advance(std::chrono::hours(1));
  const auto pass = eviction.run_due(rest);
  REQUIRE(pass);
  CHECK(pass->blobs == 1);
  CHECK(pass->failed == 0);
  const auto unused = removal.remove_unused(in_memory);
  REQUIRE(unused);
  CHECK_FALSE(*unused);
  CHECK(facts.memory.has(in_memory));
  CHECK(facts.torrent_meta(in_memory));
  for (const auto kind : {MetadataKind::persist, MetadataKind::last_access}) {
    CHECK(facts.metadata.violations(kind) == 0);
  }
}

}  // namespace
}  // namespace orlop
