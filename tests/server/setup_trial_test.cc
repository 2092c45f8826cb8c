#include "server/setup_trial.h"

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/asio.h"
#include "tests/base/temporary_directory.h"

namespace orlop {
namespace {

using Catch::Contains;
using Kind = TrialResult::Kind;

struct Folders {
  TrialFolder upload;
  TrialFolder cache;
  TrialFolder database;
};

Folders below(const std::filesystem::path& folder) {
  return {.upload = {.key = "castore.upload_dir", .path = folder / "a" / "upload"},
          .cache = {.key = "castore.cache_dir", .path = folder / "a" / "cache"},
          .database = {.key = "store.database_dir", .path = folder / "b" / "c" / "db"}};
}

std::vector<TrialResult> run(const Folders& folders,
                             std::optional<std::uint64_t> free_bytes_min = 0) {
  PosixDisk disk;
  return FolderTrial(disk).run(folders.upload, folders.cache, folders.database, free_bytes_min);
}

std::vector<std::string> failures_of(const std::vector<TrialResult>& results) {
  std::vector<std::string> texts;
  for (const auto& result : results) {
    if (result.kind == Kind::failure) texts.push_back(result.text);
  }
  return texts;
}

TEST_CASE("setup trial: folders that are still to be made are fine, and are gone afterwards") {
  const TemporaryDirectory directory;

  const auto results = run(below(directory.path()));

  CHECK(failures_of(results).empty());
  REQUIRE(results.size() == 5);
  CHECK_THAT(results[0].text, Contains("castore.upload_dir") && Contains("will be made"));
  CHECK_THAT(results[3].text, Contains("renamed from one to the other"));
  CHECK_THAT(results[4].text, Contains("are free"));
  CHECK(std::filesystem::is_empty(directory.path()));
}

TEST_CASE("setup trial: folders that are there keep what is in them, and nothing more") {
  const TemporaryDirectory directory;
  const auto folders = below(directory.path());
  std::filesystem::create_directories(folders.upload.path);
  std::filesystem::create_directories(folders.cache.path / "aa");
  std::filesystem::create_directories(folders.database.path);
  std::ofstream(folders.upload.path / "file") << "kept";

  const auto results = run(folders);

  CHECK(failures_of(results).empty());
  CHECK_THAT(results[0].text, Contains("is there"));
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory.path())) {
    left.push_back(entry.path().filename());
  }
  std::sort(left.begin(), left.end());
  CHECK(left == std::vector<std::string>{"a", "aa", "b", "c", "cache", "db", "file", "upload"});
}

TEST_CASE("setup trial: a folder that cannot be one is named, with the reason; the others too") {
  const TemporaryDirectory directory;
  auto folders = below(directory.path());
  std::ofstream(directory.path() / "file") << "in the way";
  folders.cache.path = directory.path() / "file" / "cache";
  folders.database.path = "/proc/orlop-trial";

  const auto failures = failures_of(run(folders));

  REQUIRE(failures.size() == 2);
  CHECK_THAT(failures[0], Contains("castore.cache_dir") && Contains("Not a directory"));
  CHECK_THAT(failures[1], Contains("store.database_dir") && Contains("/proc/orlop-trial"));
}

TEST_CASE("setup trial: uploads and blobs on two file systems are refused") {
  const TemporaryDirectory here;
  const auto device = [](const char* path) {
    struct stat facts = {};
    return ::stat(path, &facts) == 0 ? facts.st_dev : 0;
  };
  std::filesystem::path other;
  for (const auto* candidate : {"/dev/shm", "/var/tmp"}) {
    if (device(candidate) != 0 && device(candidate) != device(here.path().c_str())) {
      other = std::filesystem::path(candidate) / "orlop-trial-test";
    }
  }
  if (other.empty()) {
    WARN("there is only one file system for this test");
    return;
  }
  auto folders = below(here.path());
  folders.cache.path = other;

  const auto failures = failures_of(run(folders));

  REQUIRE(failures.size() == 1);
  CHECK_THAT(failures[0], Contains("must be on one file system"));
  CHECK_FALSE(std::filesystem::exists(other));
  CHECK(std::filesystem::is_empty(here.path()));
}

TEST_CASE("setup trial: a disk on which no upload would be taken is a failure") {
  const TemporaryDirectory directory;

  const auto failures = failures_of(run(below(directory.path()), std::uint64_t{1} << 60));

  REQUIRE(failures.size() == 1);
  CHECK_THAT(failures[0], Contains("store.free_bytes_min"));
}

TEST_CASE("setup trial: an address is free, or taken, or none of this machine") {
  asio::io_context io(1);
  const asio::ip::tcp::endpoint any_port(asio::ip::address_v4::loopback(), 0);
  const Acceptor taken(io, any_port);

  CHECK(try_address("127.0.0.1", 0).kind == Kind::ok);
  CHECK(try_address("127.0.0.1", taken.local_endpoint().port()).kind == Kind::warning);
  CHECK(try_address("192.0.2.1", 15002).kind == Kind::failure);  // RFC 5737: nobody's.
}

}  // namespace
}  // namespace orlop
