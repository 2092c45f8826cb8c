#include "origin/folder_check.h"

#include <catch2/catch.hpp>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "metadata/keys.h"
#include "metadata/open_database.h"
#include "metadata/rocksdb_options.h"
#include "metadata/usage_merge.h"
#include "origin/folder_locks.h"
#include "tests/origin/scrub_bench.h"

namespace orlop {
namespace {

/// "kind subject", sorted.
using Found = std::multiset<std::string>;

struct CheckBench : ScrubBench {
  std::filesystem::path database_dir = folder.directory.path() / "db";
  Found found;

  Result<FolderReport> check(unsigned jobs = 2) {
    FolderCheck run(disk, clock,
                    {.layout = folder.layout, .database_dir = database_dir, .jobs = jobs},
                    [this](const Finding& finding) {
                      found.insert(std::string(to_string(finding.kind)) + " " + finding.subject);
                    });
    return run.run();
  }

  /// What no call of the catalogue does.
  void damage_database(const std::function<void(rocksdb::WriteBatch&, OpenDatabase&)>& change) {
    catalogue.reset();
    auto open = OpenDatabase::open(make_rocksdb_options(database_dir, nullptr), database_dir,
                                   OpenMode::read_write, [](const std::string&) {});
    REQUIRE(open);
    rocksdb::WriteBatch batch;
    change(batch, **open);
    REQUIRE((*open)->write(batch, true));
  }
};

std::map<std::string, std::string> files_below(const std::filesystem::path& root) {
  std::map<std::string, std::string> all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.is_regular_file()) all[entry.path()] = read_file(entry.path());
  }
  return all;
}

TEST_CASE("check: a folder in order has no findings, with any number of jobs") {
  const unsigned jobs = GENERATE(1U, 5U);
  CheckBench bench;
  for (int i = 0; i < 40; ++i) bench.put("blob " + std::to_string(i));
  bench.put("");

  const auto report = bench.check(jobs);

  REQUIRE(report);
  CHECK(bench.found.empty());
  CHECK(report->findings() == 0);
  CHECK(report->records == 41);
  CHECK(report->files == 41);
  CHECK(report->bytes == 10 * 6 + 30 * 7);
}

TEST_CASE("check: it says what is wrong with each blob") {
  CheckBench bench;
  bench.put("right");
  const auto gone = bench.put("gone");
  std::filesystem::remove(bench.folder.layout.blob(gone));
  const auto cut = bench.put("cut off");
  write_file(bench.folder.layout.blob(cut), "cut");
  const auto rotten = bench.put("rotten");
  bench.rot(rotten, "rOtten");
  const auto sums = bench.put("sums");
  REQUIRE(bench.catalogue->put_metainfo(*MetaInfo::make(sums, 4, 1 << 20, {1})));
  const auto adoptable = digest_of("adoptable");
  write_file(bench.folder.layout.blob(adoptable), "adoptable");
  const auto foreign = digest_of("foreign");
  write_file(bench.folder.layout.blob(foreign), "something else");

  const auto report = bench.check();

  REQUIRE(report);
  CHECK(bench.found == Found{"record_without_file " + gone.to_string(),
                             "wrong_size " + cut.to_string(), "wrong_bytes " + rotten.to_string(),
                             "wrong_metainfo " + sums.to_string(),
                             "file_without_record " + adoptable.to_string(),
                             "wrong_bytes " + foreign.to_string()});
  CHECK(report->findings() == 6);
}

TEST_CASE("check: what lies on a volume is looked at too") {
  CheckBench bench;
  auto& layout = bench.folder.layout;
  const auto digest = digest_of("far");
  const auto volume = bench.folder.directory.path() / "volume";
  const auto shard = volume / "cache" / digest.hex().substr(0, 2);
  std::filesystem::create_directories(shard);
  std::filesystem::create_directory_symlink(shard, layout.outer_shard(digest));
  layout.linked_shards[digest.bytes()[0]] = {.folder = shard, .filesystem = 1};
  layout.volume_upload_dirs = {volume / "cache.upload"};
  bench.put("far");
  CHECK(bench.check()->files == 1);
  CHECK(bench.found.empty());

  const auto evidence = layout.blob_folder(digest) / "data.quarantined-1796000000000000000";
  write_file(evidence, "evidence");
  const auto half = volume / "cache.upload" / (std::string(32, 'b') + "-12345678");
  write_file(half, "bytes");
  REQUIRE(bench.check());

  CHECK(bench.found ==
        Found{"quarantined " + evidence.string(), "upload_leftover " + half.string()});
}

TEST_CASE("check: evidence and leftovers are findings, an upload in progress is none") {
  CheckBench bench;
  const auto evidence =
      bench.folder.layout.blob_folder(digest_of("x")) / "data.quarantined-1796000000000000000";
  write_file(evidence, "evidence");
  const auto& uploads = bench.folder.layout.upload_dir;
  const std::string id = std::string(32, 'a') + "-12345678";
  const std::string half = std::string(32, 'b') + "-12345678";
  write_file(uploads / id, "bytes");
  write_file(uploads / (id + ".session"), "session");
  write_file(uploads / half, "bytes");
  write_file(uploads / "notes.txt", "foreign");

  const auto report = bench.check();

  REQUIRE(report);
  CHECK(bench.found == Found{"quarantined " + evidence.string(),
                             "upload_leftover " + (uploads / half).string(),
                             "upload_leftover " + (uploads / "notes.txt").string()});
  CHECK(report->uploads == 1);
}

TEST_CASE("check: a sum that is not that of the records is a finding") {
  CheckBench bench;
  bench.put("blob");
  bench.damage_database([](rocksdb::WriteBatch& batch, OpenDatabase& open) {
    batch.Merge(open.handle(Family::general), to_slice(kUsageKey), encode_usage({1, 8}));
  });

  REQUIRE(bench.check());

  CHECK(bench.found == Found{"usage_wrong " + bench.database_dir.string()});
}

TEST_CASE("check: records that cannot be read are findings, and the others are looked at") {
  CheckBench bench;
  const auto broken = bench.put("broken");
  const auto lost = bench.put("lost metainfo");
  const auto rotten = bench.put("rotten");
  bench.rot(rotten, "rOtten");
  bench.damage_database([&](rocksdb::WriteBatch& batch, OpenDatabase& open) {
    batch.Put(open.handle(Family::blobs), to_slice(digest_key(broken)), "junk");
    batch.Delete(open.handle(Family::metainfo), to_slice(digest_key(lost)));
  });

  REQUIRE(bench.check());

  CHECK(bench.found == Found{"record_unreadable " + broken.to_string(),
                             "metainfo_unreadable " + lost.to_string(),
                             "wrong_bytes " + rotten.to_string()});
}

TEST_CASE("check: without a database the bytes of all files are looked at all the same") {
  CheckBench bench;
  bench.put("right");
  const auto rotten = bench.put("rotten");
  bench.rot(rotten, "rOtten");
  bench.database_dir = bench.folder.directory.path() / "nowhere";

  const auto report = bench.check();

  REQUIRE(report);
  CHECK(bench.found == Found{"database_unreadable " + bench.database_dir.string(),
                             "wrong_bytes " + rotten.to_string()});
  CHECK(report->files == 2);
  CHECK_FALSE(std::filesystem::exists(bench.database_dir));
}

TEST_CASE("check: not a byte of the folder changes") {
  CheckBench bench;
  bench.put("right");
  bench.rot(bench.put("rotten"), "rOtten");
  bench.catalogue.reset();
  const auto before = files_below(bench.folder.directory.path());

  REQUIRE(bench.check());

  CHECK(files_below(bench.folder.directory.path()) == before);
}

TEST_CASE("check: while a daemon has the folders nothing is looked at") {
  CheckBench bench;
  const auto locks = FolderLocks::acquire({bench.folder.layout.cache_dir});
  REQUIRE(locks);

  const auto report = bench.check();

  REQUIRE_FALSE(report);
  CHECK(report.error().code() == Errc::busy);
  CHECK(bench.found.empty());
}

TEST_CASE("check: a file that cannot be read is a finding") {
  CheckBench bench;
  const auto digest = bench.put("blob");
  bench.disk.refuse("read", EIO, digest.hex());

  REQUIRE(bench.check());

  CHECK(bench.found == Found{"file_unreadable " + digest.to_string()});
}

}  // namespace
}  // namespace orlop
