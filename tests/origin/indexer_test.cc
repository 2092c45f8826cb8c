#include "origin/indexer.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <optional>

#include "core/digester.h"
#include "store/sidecars.h"
#include "tests/base/manual_clock.h"
#include "tests/metadata/sample_blobs.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

/// A folder that somebody else filled, and what Origin puts around it.
struct ForeignFolder {
  StoreFolder store;
  ManualClock clock;
  WatchedDisk disk;
  std::unique_ptr<Catalogue> catalogue =
      open_catalogue({.path = store.directory.path() / "db", .clock = &clock});
  BlobFiles files{disk, clock, store.layout};
  DigestClaims claims;
  BlobSettlement settlement{disk, clock, files, *catalogue, claims, store.lengths, store.layout};

  std::filesystem::path folder_of(std::string_view content) const {
    return store.layout.blob_folder(digest_of(bytes_of(content)));
  }
  /// A blob as Kraken leaves it, without sidecars.
  Digest put(std::string_view content) const {
    write_file(folder_of(content) / "data", content);
    return digest_of(bytes_of(content));
  }
  bool recorded(Digest digest) const { return catalogue->blob(digest).has_value(); }
  IndexProgress progress() const {
    auto progress = catalogue->index_progress();
    REQUIRE(progress);
    return *std::move(progress);
  }
  std::unique_ptr<Indexer> indexer() {
    return std::make_unique<Indexer>(disk, *catalogue, settlement, store.layout,
                                     IndexerOptions{.cpu_share = 1});
  }
  IndexProgress index() {
    indexer()->run();
    return progress();
  }
};

TEST_CASE("indexer: an empty folder is over at once, and kept as over") {
  ForeignFolder folder;

  const auto progress = folder.index();

  CHECK(progress.over());
  CHECK(progress.hashed + progress.recorded + progress.known + progress.foreign == 0);
}

TEST_CASE("indexer: blobs without a record are recorded, with their size and usage") {
  ForeignFolder folder;
  const auto first = folder.put("hello world");
  const auto second = folder.put("another blob");
  const auto empty = folder.put("");

  const auto progress = folder.index();

  CHECK(progress.hashed == 3);
  REQUIRE(folder.recorded(first));
  CHECK(folder.catalogue->blob(first)->size_bytes == 11);
  CHECK(folder.catalogue->metainfo(first)->piece_sums().size() == 3);
  CHECK(folder.recorded(second));
  CHECK(folder.recorded(empty));
  CHECK(folder.catalogue->usage()->blobs == 3);
}

TEST_CASE("indexer: a blob with a whole _torrentmeta is recorded unread, as Kraken left it") {
  ForeignFolder folder;
  const auto digest = folder.put("hello world");
  const auto path = folder.folder_of("hello world");
  write_file(path / "_torrentmeta", MetaInfo::make(digest, 11, 6, {1, 2})->json());
  write_file(path / "_persist", "true");
  write_file(path / "_last_access_time", encode_last_access_time(3600 * 480'000));

  const auto progress = folder.index();

  CHECK(progress.recorded == 1);
  CHECK(progress.hashed == 0);
  const auto record = folder.catalogue->blob(digest);
  REQUIRE(record);
  CHECK(record->pinned);
  CHECK_FALSE(record->fingerprint);
  CHECK(folder.catalogue->metainfo(digest)->piece_length() == 6);
  CHECK(folder.catalogue->oldest_accesses(0, std::nullopt, 9)->at(0).hour == 480'000);
}

TEST_CASE("indexer: what is over is not walked again, also by another process") {
  ForeignFolder folder;
  folder.index();
  folder.put("hello world");
  folder.disk.log().clear();

  const auto progress = folder.index();

  CHECK(progress.hashed == 0);
  CHECK(folder.disk.log().count("list") == 0);
}

TEST_CASE("indexer: a folder that was replaced by another one is walked again") {
  ForeignFolder folder;
  folder.index();
  const auto& cache = folder.store.layout.cache_dir;
  std::filesystem::rename(cache, cache.string() + "-old");
  std::filesystem::create_directory(cache);
  const auto digest = folder.put("hello world");

  const auto progress = folder.index();

  CHECK(progress.hashed == 1);
  CHECK(folder.recorded(digest));
}

TEST_CASE("indexer: a walk that was stopped keeps where it is and goes on from there") {
  ForeignFolder folder;
  const auto digest = folder.put("hello world");
  IndexProgress before;
  before.folder = [&] {
    folder.index();
    return folder.progress().folder;
  }();
  REQUIRE(folder.catalogue->remove(digest));
  // hello world is b94d…: one walk begins behind it, the other one at it.
  const auto shards_done = GENERATE(0xb94eU, 0xb94dU);
  before.shards_done = shards_done;
  before.hashed = 41;
  REQUIRE(folder.catalogue->put_index_progress(before));

  const auto progress = folder.index();

  CHECK(progress.over());
  CHECK(folder.recorded(digest) == (shards_done == 0xb94dU));
  CHECK(progress.hashed == (shards_done == 0xb94dU ? 42 : 41));
}

TEST_CASE("indexer: a stopped one does nothing, and keeps that") {
  ForeignFolder folder;
  const auto digest = folder.put("hello world");
  auto indexer = folder.indexer();
  indexer->stop();

  indexer->run();

  CHECK_FALSE(folder.progress().over());
  CHECK_FALSE(folder.recorded(digest));
  CHECK(folder.index().hashed == 1);
}

TEST_CASE("indexer: a file that is not what its name says is set aside") {
  ForeignFolder folder;
  write_file(folder.folder_of("hello world") / "data", "hello wurld");
  write_file(folder.folder_of("not empty") / "data", "");

  const auto progress = folder.index();

  CHECK(progress.quarantined == 2);
  CHECK_FALSE(std::filesystem::exists(folder.folder_of("hello world") / "data"));
  CHECK(names_in(folder.folder_of("not empty")).size() == 1);  // The evidence.
}

TEST_CASE("indexer: what is no blob is counted and left alone") {
  ForeignFolder folder;
  const auto& cache = folder.store.layout.cache_dir;
  const auto digest = folder.put("hello world");
  write_file(cache / ".DS_Store", "x");
  std::filesystem::create_directory(cache / "lost+found");
  std::filesystem::create_directory(cache / "AB");  // Where Kraken has a link to a volume.
  std::filesystem::create_symlink("/etc", cache / "ab");
  write_file(cache / "b9" / "stray", "x");
  write_file(cache / "b9" / "4d" / std::string(255, 'n'), "x");
  std::filesystem::create_directory(cache / "b9" / "4d" / digest_of(bytes_of("x")).hex());
  std::filesystem::create_directories(folder.folder_of("a directory") / "data");
  std::filesystem::create_directories(folder.folder_of("a link"));
  std::filesystem::create_symlink("/etc/passwd", folder.folder_of("a link") / "data");
  std::filesystem::create_directories(folder.folder_of("a fifo"));
  REQUIRE(::mkfifo((folder.folder_of("a fifo") / "data").c_str(), 0600) == 0);
  write_file(folder.folder_of("a ghost") / "_last_access_time", "12345678");

  const auto progress = folder.index();

  CHECK(progress.hashed == 1);
  CHECK(folder.recorded(digest));
  CHECK(progress.foreign == 9);
  CHECK(progress.ghosts == 1);
  CHECK(progress.quarantined == 0);
  CHECK(folder.catalogue->usage()->blobs == 1);
  CHECK(std::filesystem::exists(cache / ".DS_Store"));
}

TEST_CASE("indexer: a shard that cannot be read is counted, and the others are walked") {
  ForeignFolder folder;
  const auto digest = folder.put("hello world");
  const auto unread = folder.put("another blob");
  folder.disk.refuse("list", EACCES, folder.store.layout.inner_shard(unread));

  const auto progress = folder.index();

  CHECK(progress.unreadable == 1);
  CHECK(folder.recorded(digest));
  CHECK_FALSE(folder.recorded(unread));
}

TEST_CASE("indexer: a blob that somebody is changing is left to them") {
  ForeignFolder folder;
  const auto digest = folder.put("hello world");
  const auto claim = folder.claims.try_claim(digest);

  const auto progress = folder.index();

  CHECK(progress.known == 1);
  CHECK_FALSE(folder.recorded(digest));
}

TEST_CASE("indexer: blobs that were recorded already are not read") {
  ForeignFolder folder;
  folder.put("hello world");
  folder.index();
  auto again = folder.progress();
  again.shards_done = 0;
  REQUIRE(folder.catalogue->put_index_progress(again));
  folder.disk.log().clear();

  CHECK(folder.index().known == 1);

  CHECK(folder.disk.log().count("read") == 0);
}

}  // namespace
}  // namespace orlop
