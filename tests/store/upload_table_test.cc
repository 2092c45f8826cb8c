#include "store/upload_table.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cerrno>

#include "core/digester.h"
#include "tests/base/manual_clock.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

/// A table over a folder; `restart` is what a new process sees of it.
struct TableBench {
  StoreFolder folder;
  WatchedDisk disk;
  ManualClock clock;
  UploadTableOptions options{.uploads_max = 3, .idle_max = 6h, .ring_label = "node"};
  std::unique_ptr<UploadTable> table;

  TableBench() { restart(); }

  void restart() {
    table.reset();
    table = std::make_unique<UploadTable>(disk, clock, folder.random, folder.layout, folder.lengths,
                                          options);
  }
  std::set<std::string> names() const { return names_in(folder.layout.upload_dir); }
  std::shared_ptr<Upload> started(Digest digest, UploadLife life = UploadLife::resumable) {
    auto upload = table->start(digest, life);
    REQUIRE(upload);
    return *std::move(upload);
  }
};

const Digest kDigest = digest_of("one");
const Digest kOther = digest_of("other");

TEST_CASE("upload table: an upload is found by its id and its digest, and by nothing else") {
  TableBench bench;
  const auto upload = bench.started(kDigest);

  CHECK(bench.table->find(upload->id(), kDigest) == upload);
  CHECK(bench.table->find(upload->id(), kOther) == nullptr);
  CHECK(bench.table->find(UploadId::make(bench.folder.random, "node"), kDigest) == nullptr);
  CHECK(bench.table->count() == 1);
}

TEST_CASE("upload table: start neither syncs nor leaves the upload folder") {
  TableBench bench;
  bench.disk.log().clear();
  const auto upload = bench.started(kDigest);

  CHECK(bench.disk.log().phases() == std::vector<std::string>{"create", "write"});
  const auto id = upload->id().text();
  CHECK(bench.names() == std::set<std::string>{id, id + ".session"});
}

TEST_CASE("upload table: ids differ and carry the node's hash", "[golden]") {
  TableBench bench;
  const auto first = bench.started(kDigest);
  const auto second = bench.started(kDigest);

  CHECK(first->id().text() != second->id().text());
  CHECK(first->id().text().substr(33) == digest_of("node").hex().substr(0, 8));
}

TEST_CASE("upload table: discard forgets the upload and removes its files, and only once") {
  TableBench bench;
  const auto upload = bench.started(kDigest);
  const auto stays = bench.started(kDigest);

  bench.table->discard(*upload);
  bench.table->discard(*upload);

  CHECK(bench.table->find(upload->id(), kDigest) == nullptr);
  CHECK(bench.table->find(stays->id(), kDigest) == stays);
  CHECK(bench.names().size() == 2);
}

TEST_CASE("upload table: one more than uploads_max is busy, until one goes") {
  TableBench bench;
  const auto first = bench.started(kDigest);
  bench.started(kDigest);
  bench.started(kDigest, UploadLife::single);
  const auto names = bench.names();

  const auto refused = bench.table->start(kDigest, UploadLife::resumable);

  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::busy);
  CHECK(bench.table->refused() == 1);
  CHECK(bench.names() == names);
  bench.table->discard(*first);
  CHECK(bench.table->start(kDigest, UploadLife::resumable));
}

TEST_CASE("upload table: a start that fails leaves no file behind") {
  const auto refused_part = GENERATE(as<std::string>(), "upload", ".session");
  const auto call = GENERATE(as<std::string>(), "create", "write");
  CAPTURE(call, refused_part);
  TableBench bench;
  bench.disk.refuse(call, ENOSPC, refused_part);

  const auto started = bench.table->start(kDigest, UploadLife::resumable);

  REQUIRE_FALSE(started);
  CHECK(started.error().code() == Errc::busy);
  CHECK(bench.names().empty());
  CHECK(bench.table->count() == 0);
}

TEST_CASE("upload table: a resumable upload survives a restart with what it had") {
  TableBench bench;
  auto upload = bench.started(kDigest);
  REQUIRE(put_chunk(*upload, 0, "on"));
  const auto id = upload->id();
  upload.reset();

  bench.restart();
  REQUIRE(bench.table->recover());

  CHECK(bench.table->find(id, kOther) == nullptr);
  upload = bench.table->find(id, kDigest);
  REQUIRE(upload != nullptr);
  CHECK(upload->size_bytes() == 2);
  REQUIRE(put_chunk(*upload, 2, "e"));
  const auto metainfo = upload->finish();
  REQUIRE(metainfo);
  CHECK(metainfo->digest() == kDigest);
}

TEST_CASE("upload table: recover removes what nobody can continue") {
  TableBench bench;
  const auto single = bench.started(kDigest, UploadLife::single);
  const auto without_file = bench.started(kDigest);
  const auto torn = bench.started(kDigest);
  std::filesystem::remove(without_file->path());
  const auto text = GENERATE(
      as<std::string>(), "", "orlop upload 1\n", "orlop upload 1\nsha256:12\n",
      "orlop upload 2\n" + kDigest.to_string() + "\n", "orlop upload 1\n" + kDigest.to_string(),
      "orlop upload 1\n" + kDigest.to_string() + "\n\n",
      "orlop upload 1\n" + kDigest.to_string() + "\n" + std::string(300, '\n'));
  CAPTURE(text);
  write_file(Layout::session(torn->path()), text);

  bench.restart();
  REQUIRE(bench.table->recover());

  CHECK(bench.table->count() == 0);
  CHECK(bench.names().empty());
}

TEST_CASE("upload table: recover leaves alone what is not ours, whatever it is") {
  TableBench bench;
  const auto& directory = bench.folder.layout.upload_dir;
  const auto id = UploadId::make(bench.folder.random, "node").text();
  write_file(directory / "f7c0a0a2-2b6b-4b2b-8f57-1bb3a2a8d1c9", "an upload of Kraken");
  write_file(directory / "README.session", "ours?");
  write_file(directory / (id + ".tmp"), "ours?");
  std::filesystem::create_directory(directory / UploadId::make(bench.folder.random, "n").text());
  const auto fifo = directory / UploadId::make(bench.folder.random, "n").text();
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto outside = bench.folder.directory.path() / "outside";
  write_file(outside, "precious");
  std::filesystem::create_symlink(outside,
                                  directory / UploadId::make(bench.folder.random, "n").text());
  const auto names = bench.names();

  REQUIRE(bench.table->recover());

  CHECK(bench.table->count() == 0);
  CHECK(bench.names() == names);
  CHECK(read_file(outside) == "precious");
}

TEST_CASE("upload table: recover does not follow a link or wait for a FIFO in place of an upload") {
  const bool fifo = GENERATE(false, true);
  CAPTURE(fifo);
  TableBench bench;
  const auto upload = bench.started(kDigest);
  const auto outside = bench.folder.directory.path() / "outside";
  write_file(outside, "precious");
  std::filesystem::remove(upload->path());
  if (fifo) {
    REQUIRE(::mkfifo(upload->path().c_str(), 0600) == 0);
  } else {
    std::filesystem::create_symlink(outside, upload->path());
  }

  bench.restart();
  REQUIRE(bench.table->recover());

  CHECK(bench.table->count() == 0);
  CHECK(read_file(outside) == "precious");
}

TEST_CASE("upload table: recover does not follow a link in place of a session") {
  TableBench bench;
  const auto upload = bench.started(kDigest);
  const auto session = Layout::session(upload->path());
  const auto outside = bench.folder.directory.path() / "outside";
  std::filesystem::rename(session, outside);
  std::filesystem::create_symlink(outside, session);

  bench.restart();
  REQUIRE(bench.table->recover());

  CHECK(bench.table->count() == 0);
  CHECK(std::filesystem::exists(outside));
}

TEST_CASE("upload table: recover says so when the folder cannot be read") {
  TableBench bench;
  bench.disk.refuse("list", EIO);
  CHECK_FALSE(bench.table->recover());
}

TEST_CASE("upload table: an upload without activity for idle_max is discarded") {
  TableBench bench;
  const auto id = bench.started(kDigest)->id();
  bench.clock.advance(3h);
  const auto later = bench.started(kDigest)->id();
  bench.clock.advance(3h - 1ns);
  CHECK(bench.table->discard_idle() == 0);
  bench.clock.advance(1ns);

  CHECK(bench.table->discard_idle() == 1);

  CHECK(bench.table->find(id, kDigest) == nullptr);
  CHECK(bench.table->find(later, kDigest) != nullptr);
  CHECK(bench.names() == std::set<std::string>{later.text(), later.text() + ".session"});
}

TEST_CASE("upload table: looking an upload up counts as activity") {
  TableBench bench;
  const auto id = bench.started(kDigest)->id();
  bench.clock.advance(5h);
  REQUIRE(bench.table->find(id, kDigest) != nullptr);
  CHECK(bench.table->find(id, kOther) == nullptr);
  bench.clock.advance(5h);
  CHECK(bench.table->discard_idle() == 0);

  // Somebody who does not know the digest cannot keep it alive.
  CHECK(bench.table->find(id, kOther) == nullptr);
  bench.clock.advance(1h);
  CHECK(bench.table->discard_idle() == 1);
}

TEST_CASE("upload table: a recovered upload has idle_max from the restart on") {
  TableBench bench;
  const auto id = bench.started(kDigest)->id();
  bench.clock.advance(5h);
  bench.restart();
  REQUIRE(bench.table->recover());
  bench.clock.advance(5h);
  CHECK(bench.table->discard_idle() == 0);
  bench.clock.advance(1h);
  CHECK(bench.table->discard_idle() == 1);
}

TEST_CASE("upload table: an upload that somebody is using is not idle") {
  TableBench bench;
  const auto upload = bench.started(kDigest);
  bench.clock.advance(100h);

  CHECK(bench.table->discard_idle() == 0);

  CHECK(bench.table->find(upload->id(), kDigest) == upload);
  CHECK(bench.names().size() == 2);
}

TEST_CASE("upload table: a request that took longer than idle_max was activity until its end") {
  TableBench bench;
  auto upload = bench.started(kDigest);
  const auto id = upload->id();
  for (int sweeps = 0; sweeps < 7 * 60; ++sweeps) {
    bench.clock.advance(1min);
    REQUIRE(bench.table->discard_idle() == 0);
  }

  upload.reset();  // A slow chunk has ended. Its client is about to commit.
  bench.clock.advance(1min);

  CHECK(bench.table->discard_idle() == 0);
  CHECK(bench.table->find(id, kDigest) != nullptr);
}

}  // namespace
}  // namespace orlop
