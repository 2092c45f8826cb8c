#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "core/digester.h"
#include "store/upload_table.h"
#include "tests/base/manual_clock.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

/// A table over two file systems, so far as it can tell: the shard of "far" is on the second.
struct TwoUploadFolders {
  StoreFolder folder;
  WatchedDisk disk;
  ManualClock clock;
  std::filesystem::path far_dir = folder.directory.path() / "volume" / "cache.upload";
  std::unique_ptr<UploadTable> table;

  TwoUploadFolders() {
    const auto digest = digest_of("far");
    std::filesystem::create_directories(far_dir);
    folder.layout.linked_shards[digest.bytes()[0]] = {
        .folder = folder.directory.path() / "volume" / "cache" / digest.hex().substr(0, 2),
        .filesystem = 1};
    folder.layout.volume_upload_dirs = {far_dir};
    restart();
  }
  void restart() {
    table.reset();
    table = std::make_unique<UploadTable>(
        disk, clock, folder.random, folder.layout, folder.lengths,
        UploadTableOptions{.uploads_max = 9, .idle_max = 6h, .ring_label = "node"});
  }
  std::shared_ptr<Upload> started(Digest digest, UploadLife life = UploadLife::resumable) {
    auto upload = table->start(digest, life);
    REQUIRE(upload);
    return *std::move(upload);
  }
};

TEST_CASE("upload table: an upload lies on the file system of its blob, its session beside it") {
  TwoUploadFolders bench;
  const auto far = bench.started(digest_of("far"));
  const auto near = bench.started(digest_of("near"));

  CHECK(far->path() == bench.far_dir / far->id().text());
  CHECK(names_in(bench.far_dir).size() == 2);
  CHECK(near->path() == bench.folder.layout.upload_dir / near->id().text());
  CHECK(bench.table->lies_where_blob_will(*far, digest_of("far")));
  CHECK(bench.table->lies_where_blob_will(*near, digest_of("near")));
  CHECK_FALSE(bench.table->lies_where_blob_will(*near, digest_of("far")));
}

TEST_CASE("upload table: a new process takes up the uploads of every folder, and clears them all") {
  TwoUploadFolders bench;
  auto upload = bench.started(digest_of("far"));
  const auto id = upload->id();
  REQUIRE(put_chunk(*upload, 0, "fa"));
  upload.reset();
  (void)bench.started(digest_of("far"), UploadLife::single);  // Of no use to anybody now.
  bench.restart();

  REQUIRE(bench.table->recover());

  CHECK(bench.table->count() == 1);
  const auto found = bench.table->find(id, digest_of("far"));
  REQUIRE(found != nullptr);
  CHECK(found->size_bytes() == 2);
  CHECK(names_in(bench.far_dir) == std::set<std::string>{id.text(), id.text() + ".session"});
}

TEST_CASE("upload table: an idle upload is removed from whichever folder it is in") {
  TwoUploadFolders bench;
  (void)bench.started(digest_of("far"));
  (void)bench.started(digest_of("near"));
  bench.clock.advance(6h);

  CHECK(bench.table->discard_idle() == 2);

  CHECK(names_in(bench.far_dir).empty());
  CHECK(names_in(bench.folder.layout.upload_dir).empty());
}

TEST_CASE("upload table: a copy is whole and lies on the file system of its blob") {
  TwoUploadFolders bench;
  const auto unnamed = bench.started(digest_of("near"), UploadLife::single);
  REQUIRE(put_chunk(*unnamed, 0, "far"));

  const auto copy = bench.table->copy(*unnamed, digest_of("far"), {});

  REQUIRE(copy);
  CHECK(bench.table->lies_where_blob_will(**copy, digest_of("far")));
  CHECK(read_file((*copy)->path()) == "far");
  CHECK((*copy)->finish()->digest() == digest_of("far"));
}

TEST_CASE("upload table: a copy of bytes that have changed is refused and leaves nothing") {
  TwoUploadFolders bench;
  const auto unnamed = bench.started(digest_of("near"), UploadLife::single);
  REQUIRE(put_chunk(*unnamed, 0, "far"));
  write_file(unnamed->path(), GENERATE(as<std::string>(), "fat", "f"));

  const auto copy = bench.table->copy(*unnamed, digest_of("far"), {});

  REQUIRE_FALSE(copy);
  CHECK(copy.error().code() == Errc::corrupt);
  CHECK(names_in(bench.far_dir).empty());
  CHECK(bench.table->count() == 1);
}

TEST_CASE("upload table: a copy that cannot be written leaves nothing") {
  TwoUploadFolders bench;
  const auto unnamed = bench.started(digest_of("near"), UploadLife::single);
  REQUIRE(put_chunk(*unnamed, 0, "far"));
  bench.disk.refuse("write", ENOSPC, bench.far_dir);

  const auto copy = bench.table->copy(*unnamed, digest_of("far"), {});

  REQUIRE_FALSE(copy);
  CHECK(copy.error().code() == Errc::busy);
  CHECK(names_in(bench.far_dir).empty());
}

}  // namespace
}  // namespace orlop
