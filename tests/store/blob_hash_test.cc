#include "store/blob_hash.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "core/digester.h"
#include "tests/core/golden.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

TEST_CASE("blob hash: a file's metainfo is the original's for the same bytes", "[golden]") {
  const auto vectors = golden("metainfo.json");
  REQUIRE(vectors.at("cases").size() > 100);
  const StoreFolder folder;
  PosixDisk disk;
  const auto path = folder.layout.upload_dir / "file";
  for (const auto& one : vectors.at("cases")) {
    const auto size = one.at("size").get<std::size_t>();
    const auto length = one.at("piece_length").get<std::uint64_t>();
    INFO(one.at("label") << ", " << size << " bytes in pieces of " << length);
    write_file(path,
               one.contains("content_hex") ? bytes_of_hex(one.at("content_hex")) : pattern(size));
    const auto file = disk.open_for_reading(path);
    REQUIRE(file);

    const auto metainfo = hash_blob(disk, *file, piece_lengths({{0, length}}));
    const auto sums = sum_pieces(disk, *file, size, length);

    REQUIRE(metainfo);
    CHECK(metainfo->digest().to_string() == one.at("digest"));
    CHECK(metainfo->infohash().hex() == one.at("info_hash"));
    REQUIRE(sums);
    CHECK(std::ranges::equal(*sums, metainfo->piece_sums()));
  }
}

TEST_CASE("blob hash: the piece length is chosen by the file's size") {
  const StoreFolder folder;
  PosixDisk disk;
  write_file(folder.layout.upload_dir / "file", std::string(64, 'x'));
  const auto file = disk.open_for_reading(folder.layout.upload_dir / "file");

  const auto metainfo = hash_blob(disk, *file, piece_lengths({{0, 4}, {64, 16}, {65, 32}}));

  REQUIRE(metainfo);
  CHECK(metainfo->piece_length() == 16);
  CHECK(metainfo->piece_sums().size() == 4);
}

TEST_CASE("blob hash: a read error is an error and no digest") {
  const StoreFolder folder;
  WatchedDisk disk;
  write_file(folder.layout.upload_dir / "file", "bytes");
  const auto file = disk.open_for_reading(folder.layout.upload_dir / "file");
  disk.refuse("read", EIO);

  CHECK_FALSE(hash_blob(disk, *file, folder.lengths));
  CHECK_FALSE(sum_pieces(disk, *file, 5, 4));
}

/// Ends a hash before the read at `last`.
class CountedSteps final : public HashSteps {
 public:
  explicit CountedSteps(std::uint64_t last) : last_(last) {}

  Result<> before_read(std::uint64_t offset) override {
    if (offset == last_) return Error(Errc::busy, "stopped");
    return {};
  }
  void after_read(std::size_t count) override { read += count; }

  std::uint64_t read = 0;

 private:
  std::uint64_t last_;
};

TEST_CASE("blob hash: it can be ended between any two steps, and then has no result") {
  constexpr auto kStep = HashSteps::kStepBytes;
  const StoreFolder folder;
  PosixDisk disk;
  write_file(folder.layout.upload_dir / "file", std::string(2 * kStep + 5, 'x'));
  const auto file = disk.open_for_reading(folder.layout.upload_dir / "file");

  for (const std::uint64_t step : {0U, 1U, 2U}) {
    CountedSteps steps(step * kStep);
    const auto stopped = hash_blob(disk, *file, kStep, steps);
    REQUIRE_FALSE(stopped);
    CHECK(stopped.error().code() == Errc::busy);
    CHECK(steps.read == step * kStep);
  }
  CountedSteps to_the_end(~std::uint64_t{0});
  const auto whole = hash_blob(disk, *file, kStep, to_the_end);
  REQUIRE(whole);
  CHECK(whole->digest() == hash_blob(disk, *file, kStep)->digest());
  CHECK(to_the_end.read == 2 * kStep + 5);
}

TEST_CASE("blob hash: a file that is not as long as it was is corrupt") {
  const StoreFolder folder;
  PosixDisk disk;
  write_file(folder.layout.upload_dir / "file", "bytes");
  const auto file = disk.open_for_reading(folder.layout.upload_dir / "file");

  for (const std::uint64_t size : {4U, 6U}) {
    const auto sums = sum_pieces(disk, *file, size, 4);
    REQUIRE_FALSE(sums);
    CHECK(sums.error().code() == Errc::corrupt);
  }
}

}  // namespace
}  // namespace orlop
