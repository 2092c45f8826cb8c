#include "store/committer.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>

#include "tests/store/committer_bench.h"

namespace orlop {
namespace {

using Phases = std::vector<std::string>;
using enum CommitFailure;

CommitterOptions options_of(Durability durability, GroupSync sync) {
  return {.durability = durability, .group_sync = sync};
}

TEST_CASE("committer: an upload becomes the blob, and the journal learns what it needs") {
  CommitterBench bench;
  auto request = bench.request("bytes");
  request.note = {.backed = true, .write_back = WriteBackOrder{.name_space = "n"}};

  const auto outcomes = bench.committer->commit_group({&request, 1});

  REQUIRE(outcomes.size() == 1);
  CHECK_FALSE(outcomes[0]);
  CHECK(bench.blob(request) == "bytes");
  CHECK_FALSE(bench.upload_is_there(request));
  const auto groups = bench.journal.groups();
  REQUIRE(bench.journal.group_sizes() == std::vector<std::size_t>{1});
  CHECK(groups[0][0].digest == digest_of("bytes"));
  CHECK(groups[0][0].note.backed);
  REQUIRE(groups[0][0].note.write_back);
  CHECK(groups[0][0].note.write_back->name_space == "n");
  // As of after the rename, or the fingerprint would be wrong from the beginning.
  CHECK(groups[0][0].file == *bench.disk.stat(bench.folder.layout.blob(digest_of("bytes"))));
}

TEST_CASE("committer: a blob replaces a bad copy under its name") {
  CommitterBench bench;
  const auto request = bench.request("bytes");
  write_file(bench.folder.layout.blob(digest_of("bytes")), "rotten");

  CHECK_FALSE(bench.committer->commit_group({&request, 1})[0]);
  CHECK(bench.blob(request) == "bytes");
}

TEST_CASE("committer: a group is one syncfs, after its renames and its record") {
  CommitterBench bench(options_of(Durability::group, GroupSync::syncfs));
  const auto group = bench.requests({"one", "two", "three"});

  const auto outcomes = bench.committer->commit_group(group);

  CHECK(std::none_of(outcomes.begin(), outcomes.end(), [](auto& o) { return o.has_value(); }));
  CHECK(bench.log.count("sync_filesystem") == 1);
  CHECK(bench.paths_of("sync_filesystem").front() == bench.folder.layout.cache_dir);
  CHECK(bench.log.count("record") == 1);
  CHECK(bench.log.calls().back().name == "sync_filesystem");
  CHECK(bench.log.calls().end()[-2].name == "record");
  CHECK(bench.log.count("sync_data") + bench.log.count("sync_directory") == 0);
  CHECK(bench.log.count("sync") == 0);
}

TEST_CASE("committer: a journal on another file system is synced after the data") {
  auto options = options_of(Durability::group, GroupSync::syncfs);
  options.journal_filesystem.reset();
  CommitterBench bench(options);
  const auto request = bench.request("bytes");

  CHECK_FALSE(bench.committer->commit_group({&request, 1})[0]);

  const auto phases = bench.log.phases();
  REQUIRE(phases.size() >= 3);
  CHECK(Phases(phases.end() - 3, phases.end()) == Phases{"record", "sync_filesystem", "sync"});
}

TEST_CASE("committer: by fsync the order is data, names, journal, directories, journal's sync") {
  CommitterBench bench(options_of(Durability::group, GroupSync::fsync));
  const auto group = bench.requests({"one", "two", "three"});
  // The folders are there, so that no rename has to be tried twice.
  for (const auto& request : group) {
    std::filesystem::create_directories(
        bench.folder.layout.blob_folder(request.metainfo->digest()));
  }

  const auto outcomes = bench.committer->commit_group(group);

  CHECK(std::none_of(outcomes.begin(), outcomes.end(), [](auto& o) { return o.has_value(); }));
  auto phases = bench.log.phases();
  std::erase(phases, "stat");
  phases.erase(std::unique(phases.begin(), phases.end()), phases.end());
  CHECK(phases == Phases{"sync_data", "rename", "record", "sync_directory", "sync"});
  CHECK(bench.log.count("sync_data") == 3);
  CHECK(bench.log.count("sync_filesystem") == 0);
}

TEST_CASE("committer: by fsync each directory with a new name is synced, the upper ones once") {
  CommitterBench bench(options_of(Durability::group, GroupSync::fsync));
  const auto& layout = bench.folder.layout;
  const auto synced = [&] {
    const auto paths = bench.paths_of("sync_directory");
    return std::set<std::filesystem::path>(paths.begin(), paths.end());
  };
  const auto digest = digest_of("bytes");
  auto request = bench.request("bytes");
  REQUIRE_FALSE(bench.committer->commit_group({&request, 1})[0]);
  CHECK(synced() == std::set{layout.blob_folder(digest), layout.inner_shard(digest),
                             layout.outer_shard(digest), layout.cache_dir});

  request = bench.request("bytes");  // The same shards again.
  REQUIRE_FALSE(bench.committer->commit_group({&request, 1})[0]);
  CHECK(synced() == std::set{layout.blob_folder(digest), layout.inner_shard(digest)});
}

TEST_CASE("committer: by fsync shards count as synced only after their sync succeeded") {
  CommitterBench bench(options_of(Durability::group, GroupSync::fsync));
  const auto& layout = bench.folder.layout;
  auto request = bench.request("bytes");
  bench.disk.refuse("sync_directory", EIO, layout.blob_folder(digest_of("bytes")));
  REQUIRE(failed_as(bench.committer->commit_group({&request, 1})[0], upload_lost));
  bench.disk.refuse_nothing();

  request = bench.request("bytes");
  REQUIRE_FALSE(bench.committer->commit_group({&request, 1})[0]);

  CHECK(bench.log.count("sync_directory") == 4);
}

TEST_CASE("committer: durability never syncs nothing at all, by either way") {
  CommitterBench bench(
      options_of(Durability::never, GENERATE(GroupSync::syncfs, GroupSync::fsync)));
  const auto request = bench.request("bytes");

  CHECK_FALSE(bench.committer->commit_group({&request, 1})[0]);

  CHECK(bench.blob(request) == "bytes");
  CHECK(bench.log.count("record") == 1);
  for (const auto* sync : {"sync_data", "sync_directory", "sync_filesystem", "sync"}) {
    CAPTURE(sync);
    CHECK(bench.log.count(sync) == 0);
  }
}

TEST_CASE(
    "committer: when the journal fails the uploads have their names again and can be retried") {
  CommitterBench bench(
      options_of(Durability::group, GENERATE(GroupSync::syncfs, GroupSync::fsync)));
  bench.journal.fail_record(Error(Errc::busy, "the journal is full"));
  const auto group = bench.requests({"one", "two"});

  const auto outcomes = bench.committer->commit_group(group);

  for (std::size_t i = 0; i < group.size(); ++i) {
    REQUIRE(failed_as(outcomes[i], upload_kept));
    CHECK(outcomes[i]->error.code() == Errc::busy);
    CHECK(outcomes[i]->error.detail() == "the journal is full");
    CHECK(bench.upload_is_there(group[i]));
    CHECK_FALSE(bench.blob(group[i]));
  }
  CHECK(read_file(group[0].upload->path()) == "one");
  CHECK(bench.log.count("sync_filesystem") == 0);
  CHECK(bench.log.count("sync") == 0);
}

TEST_CASE("committer: when syncfs fails every upload of the group is lost and its file is gone") {
  CommitterBench bench;
  bench.disk.refuse("sync_filesystem", EIO);
  const auto group = bench.requests({"one", "two"});

  const auto outcomes = bench.committer->commit_group(group);

  for (std::size_t i = 0; i < group.size(); ++i) {
    REQUIRE(failed_as(outcomes[i], upload_lost));
    CHECK(outcomes[i]->error.code() == Errc::busy);
    CHECK_FALSE(bench.upload_is_there(group[i]));
    CHECK_FALSE(bench.blob(group[i]));
  }
}

TEST_CASE(
    "committer: when a sync fails the records stop vouching for the bytes, files gone or not") {
  CommitterBench bench;
  bench.disk.refuse("sync_filesystem", EIO);
  bench.disk.refuse("remove_file", EIO);
  const auto group = bench.requests({"one", "two"});

  const auto outcomes = bench.committer->commit_group(group);

  CHECK(failed_as(outcomes[0], upload_lost));
  CHECK(bench.paths_of("distrust") ==
        std::vector<std::filesystem::path>{digest_of("one").hex(), digest_of("two").hex()});
}

TEST_CASE("committer: when a directory's or the journal's sync fails the file is gone") {
  CommitterBench bench(options_of(Durability::always, GroupSync::fsync));
  if (GENERATE(false, true)) {
    bench.journal.fail_sync(Error(Errc::io_error, "no"));
  } else {
    bench.disk.refuse("sync_directory", EIO);
  }
  const auto request = bench.request("bytes");

  const auto outcomes = bench.committer->commit_group({&request, 1});

  REQUIRE(failed_as(outcomes[0], upload_lost));
  CHECK(outcomes[0]->error.code() == Errc::busy);
  CHECK_FALSE(bench.blob(request));
}

TEST_CASE("committer: an upload whose own sync fails is lost, never named, and alone") {
  CommitterBench bench(options_of(Durability::group, GroupSync::fsync));
  const auto group = bench.requests({"one", "two", "three"});
  bench.disk.refuse("sync_data", EIO, group[1].upload->id().text());

  const auto outcomes = bench.committer->commit_group(group);

  CHECK_FALSE(outcomes[0]);
  CHECK(failed_as(outcomes[1], upload_lost));
  CHECK_FALSE(outcomes[2]);
  CHECK(bench.blob(group[0]) == "one");
  CHECK_FALSE(bench.blob(group[1]));
  CHECK(bench.blob(group[2]) == "three");
  CHECK(bench.journal.group_sizes() == std::vector<std::size_t>{2});
}

TEST_CASE("committer: a rename that fails does not fail the others") {
  CommitterBench bench;
  const auto group = bench.requests({"one", "two", "three"});
  bench.disk.refuse("rename", EACCES, group[1].upload->id().text());

  const auto outcomes = bench.committer->commit_group(group);

  CHECK_FALSE(outcomes[0]);
  REQUIRE(failed_as(outcomes[1], upload_kept));
  CHECK(outcomes[1]->error.code() == Errc::io_error);
  CHECK_FALSE(outcomes[2]);
  CHECK(bench.upload_is_there(group[1]));
  const auto groups = bench.journal.groups();
  REQUIRE(bench.journal.group_sizes() == std::vector<std::size_t>{2});
  CHECK(groups[0][0].digest == digest_of("one"));
  CHECK(groups[0][1].digest == digest_of("three"));
}

TEST_CASE("committer: a folder that cannot be made, or a stat that fails, keeps the upload") {
  CommitterBench bench;
  const auto request = bench.request("bytes");
  bench.disk.refuse(GENERATE(as<std::string>(), "make_directory", "stat"), ENOSPC);

  const auto outcomes = bench.committer->commit_group({&request, 1});

  REQUIRE(failed_as(outcomes[0], upload_kept));
  CHECK(outcomes[0]->error.code() == Errc::busy);
  CHECK(bench.upload_is_there(request));
  CHECK_FALSE(bench.blob(request));
  CHECK(bench.log.count("record") == 0);
}

TEST_CASE("committer: a later failure does not answer for an earlier one of the same group") {
  CommitterBench bench;
  const auto group = bench.requests({"one", "two"});
  bench.disk.refuse("rename", EACCES, group[0].upload->id().text());
  bench.disk.refuse("sync_filesystem", EIO);

  const auto outcomes = bench.committer->commit_group(group);

  CHECK(failed_as(outcomes[0], upload_kept));
  CHECK(bench.upload_is_there(group[0]));
  CHECK(failed_as(outcomes[1], upload_lost));
}

}  // namespace
}  // namespace orlop
