#include "store/blob_files.h"

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

struct FilesBench {
  StoreFolder folder;
  WatchedDisk disk;
  ManualClock clock;
  BlobFiles files{disk, clock, folder.layout};
  Digest digest = digest_of("bytes");
  std::filesystem::path path = folder.layout.blob(digest);

  std::set<std::string> names() const { return names_in(path.parent_path()); }
  /// What was set aside, in the order of the names.
  std::vector<std::string> evidence() const {
    std::vector<std::string> bytes;
    for (const auto& name : names()) {
      if (name != "data") bytes.push_back(read_file(path.parent_path() / name));
    }
    return bytes;
  }
};

TEST_CASE("blob files: a blob lies where Kraken puts it", "[golden]") {
  // kraken-formats-and-store.md: <cache_dir>/<aa>/<bb>/<hex>/data.
  const Layout layout{.upload_dir = "u", .cache_dir = "c"};
  CHECK(layout.blob(digest_of("abc")) ==
        "c/ba/78/ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/data");
}

TEST_CASE("blob files: opens a regular file, and says how large it is") {
  FilesBench bench;
  write_file(bench.path, "bytes");

  const auto file = bench.files.open(bench.digest);

  REQUIRE(file);
  std::array<std::byte, 10> buffer;
  CHECK(*bench.disk.read(*file, buffer, 0) == 5);
  CHECK(bench.files.stat(bench.digest)->size_bytes == 5);
}

TEST_CASE("blob files: what is no regular file is not found, and nothing waits for it") {
  const auto kind = GENERATE(as<std::string>(), "nothing", "link", "dangling", "fifo", "directory");
  CAPTURE(kind);
  FilesBench bench;
  const auto outside = bench.folder.directory.path() / "outside";
  write_file(outside, "not ours");
  if (kind != "nothing") std::filesystem::create_directories(bench.path.parent_path());
  if (kind == "link") std::filesystem::create_symlink(outside, bench.path);
  if (kind == "dangling") std::filesystem::create_symlink("/nowhere/at/all", bench.path);
  if (kind == "fifo") REQUIRE(::mkfifo(bench.path.c_str(), 0600) == 0);
  if (kind == "directory") std::filesystem::create_directory(bench.path);

  const auto file = bench.files.open(bench.digest);
  const auto stat = bench.files.stat(bench.digest);

  REQUIRE_FALSE(file);
  CHECK(file.error().code() == Errc::not_found);
  REQUIRE_FALSE(stat);
  CHECK(stat.error().code() == Errc::not_found);
}

TEST_CASE(
    "blob files: remove takes the sidecars and the blob's folder along, and its shards stay") {
  FilesBench bench;
  write_file(bench.path, "bytes");
  for (const auto* sidecar : {"_torrentmeta", "_persist", "_last_access_time"}) {
    write_file(bench.path.parent_path() / sidecar, "x");
  }

  REQUIRE(bench.files.remove(bench.digest));

  CHECK_FALSE(std::filesystem::exists(bench.path.parent_path()));
  CHECK(std::filesystem::exists(bench.folder.layout.inner_shard(bench.digest)));
}

TEST_CASE("blob files: remove syncs the folder after the unlink") {
  FilesBench bench;
  write_file(bench.path, "bytes");
  bench.disk.log().clear();

  REQUIRE(bench.files.remove(bench.digest));

  auto phases = bench.disk.log().phases();
  std::erase(phases, "stat");
  CHECK(phases == std::vector<std::string>{"remove_file", "sync_directory", "remove_directory"});
}

TEST_CASE("blob files: remove keeps what it does not know, and the open file reads on") {
  FilesBench bench;
  write_file(bench.path, "bytes");
  write_file(bench.path.parent_path() / "data.quarantined-1", "evidence");
  const auto open = bench.files.open(bench.digest);
  REQUIRE(open);

  REQUIRE(bench.files.remove(bench.digest));

  CHECK(bench.names() == std::set<std::string>{"data.quarantined-1"});
  std::array<std::byte, 10> buffer;
  CHECK(*bench.disk.read(*open, buffer, 0) == 5);
}

TEST_CASE("blob files: to remove what is not here succeeds") {
  FilesBench bench;
  CHECK(bench.files.remove(bench.digest));
}

TEST_CASE("blob files: remove does not succeed when it cannot tell whether the blob is here") {
  FilesBench bench;
  write_file(bench.path, "bytes");
  bench.disk.refuse("stat", EIO);

  CHECK_FALSE(bench.files.remove(bench.digest));
}

TEST_CASE("blob files: remove succeeds only after a sync of the unlink, also when asked again") {
  FilesBench bench;
  write_file(bench.path, "bytes");
  bench.disk.refuse("sync_directory", EIO);
  REQUIRE_FALSE(bench.files.remove(bench.digest));

  // The unlink may be undone by a power cut as long as no sync has succeeded.
  CHECK_FALSE(bench.files.remove(bench.digest));
}

TEST_CASE("blob files: quarantine makes the blob absent and keeps its bytes as evidence") {
  FilesBench bench;
  write_file(bench.path, "rotten");
  write_file(bench.path.parent_path() / "_torrentmeta", "x");
  const auto stamp = std::chrono::nanoseconds(bench.clock.wall().time_since_epoch()).count();
  bench.disk.log().clear();

  REQUIRE(bench.files.quarantine(bench.digest));

  CHECK(bench.disk.log().phases() == std::vector<std::string>{"list", "rename", "sync_directory"});
  CHECK_FALSE(bench.files.open(bench.digest));
  const auto aside = "data.quarantined-" + std::to_string(stamp);
  CHECK(bench.names() == std::set<std::string>{aside, "_torrentmeta"});
  CHECK(read_file(bench.path.parent_path() / aside) == "rotten");
}

TEST_CASE("blob files: a second bad copy does not replace the evidence of the first") {
  FilesBench bench;
  write_file(bench.path, "first");
  REQUIRE(bench.files.quarantine(bench.digest));
  write_file(bench.path, "second");  // In the same nanosecond.

  REQUIRE(bench.files.quarantine(bench.digest));

  CHECK(bench.evidence() == std::vector<std::string>{"first", "second"});
  CHECK(bench.files.quarantined() == 2);
}

TEST_CASE("blob files: of the evidence of one digest the newest four are kept") {
  FilesBench bench;
  const auto foreign = bench.path.parent_path() / "data.quarantined-by-hand";
  write_file(foreign, "foreign");
  for (const auto* bytes : {"1", "2", "3", "4", "5", "6"}) {
    write_file(bench.path, bytes);
    REQUIRE(bench.files.quarantine(bench.digest));
  }

  CHECK(bench.evidence() == std::vector<std::string>{"3", "4", "5", "6", "foreign"});
}

TEST_CASE("blob files: the newest evidence is the last also when the clock was set back") {
  FilesBench bench;
  write_file(bench.path, "first");
  bench.clock.advance(1h);
  REQUIRE(bench.files.quarantine(bench.digest));
  bench.clock.advance(-1h);
  write_file(bench.path, "second");

  REQUIRE(bench.files.quarantine(bench.digest));

  CHECK(bench.evidence() == std::vector<std::string>{"first", "second"});
}

TEST_CASE("blob files: a time at the end of what fits is no reason to lose evidence") {
  FilesBench bench;
  write_file(bench.path.parent_path() / "data.quarantined-18446744073709551615", "stranger");
  write_file(bench.path, "rotten");

  REQUIRE(bench.files.quarantine(bench.digest));

  CHECK(bench.evidence() == std::vector<std::string>{"rotten", "stranger"});
}

TEST_CASE("blob files: quarantine of what is not here is not_found") {
  FilesBench bench;
  const auto quarantined = bench.files.quarantine(bench.digest);
  REQUIRE_FALSE(quarantined);
  CHECK(quarantined.error().code() == Errc::not_found);
}

}  // namespace
}  // namespace orlop
