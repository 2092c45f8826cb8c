#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/store/committer_bench.h"

namespace orlop {
namespace {

using enum CommitFailure;

/// A committer on two file systems, so far as it can tell: the shard of "far" is on the second.
struct TwoFilesystems {
  CommitterBench bench;
  std::filesystem::path volume = bench.folder.directory.path() / "volume" / "cache";
  std::filesystem::path volume_uploads = bench.folder.directory.path() / "volume" / "cache.upload";

  explicit TwoFilesystems(GroupSync sync, std::optional<std::size_t> journal_filesystem = 0) {
    auto& layout = bench.folder.layout;
    const auto digest = digest_of("far");
    const auto shard = volume / digest.hex().substr(0, 2);
    std::filesystem::create_directories(shard);
    std::filesystem::create_directories(volume_uploads);
    layout.linked_shards[digest.bytes()[0]] = {.folder = shard, .filesystem = 1};
    layout.volume_upload_dirs = {volume_uploads};
    std::vector<UniqueFd> roots;
    roots.push_back(*bench.disk.open_directory(layout.cache_dir));
    roots.push_back(*bench.disk.open_directory(volume));
    bench.make_committer(std::move(roots),
                         {.group_sync = sync, .journal_filesystem = journal_filesystem});
  }

  std::vector<CommitOutcome> commit(std::initializer_list<std::string_view> texts) {
    group = bench.requests(texts);
    return bench.committer->commit_group(group);
  }
  std::vector<std::filesystem::path> synced() const {
    auto paths = bench.paths_of("sync_filesystem");
    std::sort(paths.begin(), paths.end());
    return paths;
  }

  std::vector<CommitRequest> group;
};

bool all_succeeded(const std::vector<CommitOutcome>& outcomes) {
  return std::none_of(outcomes.begin(), outcomes.end(), [](auto& one) { return one.has_value(); });
}

TEST_CASE("committer: a group over two file systems syncs both, and no journal twice") {
  TwoFilesystems two(GroupSync::syncfs);

  CHECK(all_succeeded(two.commit({"near", "far"})));

  CHECK(two.synced() == std::vector{two.bench.folder.layout.cache_dir, two.volume});
  CHECK(two.bench.log.count("sync") == 0);
  CHECK(two.bench.blob(two.group[0]) == "near");
  CHECK(two.bench.blob(two.group[1]) == "far");
  CHECK(two.group[1].upload->path().parent_path() == two.volume_uploads);
}

TEST_CASE("committer: a file system without new blobs is not synced") {
  TwoFilesystems two(GroupSync::syncfs);

  CHECK(all_succeeded(two.commit({"near"})));

  CHECK(two.synced() == std::vector{two.bench.folder.layout.cache_dir});
}

TEST_CASE("committer: when only a volume got blobs the journal is synced by itself, after them") {
  TwoFilesystems two(GroupSync::syncfs);

  CHECK(all_succeeded(two.commit({"far"})));

  CHECK(two.synced() == std::vector{two.volume});
  CHECK(two.bench.log.calls().back().name == "sync");
}

TEST_CASE("committer: a file system that cannot be synced fails its own blobs and no others") {
  TwoFilesystems two(GroupSync::syncfs);
  two.bench.disk.refuse("sync_filesystem", EIO, two.volume);

  const auto outcomes = two.commit({"near", "far"});

  CHECK_FALSE(outcomes[0]);
  CHECK(two.bench.blob(two.group[0]) == "near");
  REQUIRE(failed_as(outcomes[1], upload_lost));
  CHECK(outcomes[1]->error.code() == Errc::busy);
  CHECK_FALSE(two.bench.blob(two.group[1]));
  CHECK(two.bench.paths_of("distrust") ==
        std::vector<std::filesystem::path>{digest_of("far").hex()});
}

TEST_CASE("committer: when the journal's file system cannot be synced nothing is acknowledged") {
  TwoFilesystems two(GroupSync::syncfs);
  two.bench.disk.refuse("sync_filesystem", EIO, two.bench.folder.layout.cache_dir);

  const auto outcomes = two.commit({"near", "far"});

  CHECK(failed_as(outcomes[0], upload_lost));
  CHECK(failed_as(outcomes[1], upload_lost));
}

TEST_CASE("committer: by fsync the folders above a shard on a volume are the volume's") {
  TwoFilesystems two(GroupSync::fsync);
  const auto& layout = two.bench.folder.layout;
  const auto digest = digest_of("far");

  CHECK(all_succeeded(two.commit({"far"})));

  const auto paths = two.bench.paths_of("sync_directory");
  CHECK(std::set(paths.begin(), paths.end()) == std::set{layout.blob_folder(digest),
                                                         layout.inner_shard(digest),
                                                         layout.outer_shard(digest), two.volume});
}

TEST_CASE("committer: by fsync too a file system that fails does so for its own blobs") {
  TwoFilesystems two(GroupSync::fsync);
  two.bench.disk.refuse("sync_directory", EIO, two.volume);

  const auto outcomes = two.commit({"near", "far"});

  CHECK_FALSE(outcomes[0]);
  CHECK(failed_as(outcomes[1], upload_lost));
}

}  // namespace
}  // namespace orlop
