#include "store/volumes.h"

#include <array>
#include <catch2/catch.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tests/base/temporary_directory.h"
#include "tests/store/store_folder.h"

namespace orlop {
namespace {

namespace fs = std::filesystem;
using Catch::Contains;

/// A store folder and the folder of one volume, with the folder of its shards.
struct VolumeBench {
  StoreFolder folder;
  fs::path volume = fs::canonical(folder.directory.path()) / "volume";
  fs::path shards = volume / "cache";

  VolumeBench() { fs::create_directories(shards); }

  /// As Kraken makes them: `<cache_dir>/<name>` to `<volume>/cache/<key>`.
  void link(const std::string& name, const fs::path& target) const {
    fs::create_directories(target);
    fs::create_directory_symlink(target, folder.layout.cache_dir / name);
  }
  Result<Layout> resolve() const {
    const std::array locations = {volume};
    return with_linked_shards(folder.layout, locations);
  }
  std::string refusal() const {
    const auto layout = resolve();
    if (layout) return "not refused";
    CHECK(layout.error().code() == Errc::invalid_argument);
    return layout.error().detail();
  }
};

Digest digest_in_shard(std::uint8_t byte) {
  std::array<std::uint8_t, Digest::kBytes> bytes = {byte, 0xcd};
  return Digest(bytes);
}

TEST_CASE(
    "volumes: a shard that Kraken linked lies on its volume, the others in the cache folder") {
  VolumeBench bench;
  bench.link("07", bench.shards / "07");

  const auto layout = bench.resolve();

  REQUIRE(layout);
  const auto here = digest_in_shard(0x07);
  CHECK(layout->blob(here) == bench.shards / "07" / "cd" / here.hex() / "data");
  CHECK(layout->outer_shard(here) == bench.shards / "07");
  const auto other = digest_in_shard(0x08);
  CHECK(layout->outer_shard(other) == bench.folder.layout.cache_dir / "08");
  CHECK(layout->shard_roots() == std::set<fs::path>{bench.folder.layout.cache_dir, bench.shards});
}

TEST_CASE("volumes: on the cache folder's own file system there is one upload folder") {
  VolumeBench bench;
  bench.link("07", bench.shards / "07");

  const auto layout = bench.resolve();

  REQUIRE(layout);
  CHECK(layout->filesystem_count() == 1);
  CHECK(layout->filesystem(digest_in_shard(0x07)) == 0);
}

TEST_CASE("volumes: Kraken's links in upper case lead nowhere that a digest does") {
  VolumeBench bench;
  bench.link("AB", bench.shards / "AB");
  bench.link("elsewhere", bench.folder.directory.path() / "elsewhere");

  const auto layout = bench.resolve();

  REQUIRE(layout);
  CHECK(layout->linked_shards.empty());
}

TEST_CASE("volumes: a lower-case link of the operator's to Kraken's upper-case folder is used") {
  VolumeBench bench;
  bench.link("ab", bench.shards / "AB");

  const auto layout = bench.resolve();

  REQUIRE(layout);
  CHECK(layout->outer_shard(digest_in_shard(0xab)) == bench.shards / "AB");
}

TEST_CASE("volumes: a location and a link may go over further links, which are resolved once") {
  VolumeBench bench;
  const auto alias = bench.folder.directory.path() / "alias";
  fs::create_directory_symlink(bench.volume, alias);
  fs::create_directories(bench.shards / "07");
  fs::create_directory_symlink(alias / "cache" / "07", bench.folder.layout.cache_dir / "07");
  const std::array locations = {alias};

  const auto layout = with_linked_shards(bench.folder.layout, locations);

  REQUIRE(layout);
  CHECK(layout->outer_shard(digest_in_shard(0x07)) == bench.shards / "07");
}

TEST_CASE("volumes: a shard that links to anything but its volume's folder is refused by name") {
  VolumeBench bench;
  const auto out = fs::canonical(bench.folder.directory.path()) / "out";
  const std::array targets = {out,
                              out / "07",
                              bench.shards / "08",
                              bench.shards,
                              bench.shards / "07" / "07",
                              bench.volume / "07"};
  const auto& target = targets.at(GENERATE(range(std::size_t{0}, std::size_t{6})));
  bench.link("07", target);
  CAPTURE(target.string());

  const auto refusal = bench.refusal();

  CHECK_THAT(refusal, Contains((bench.folder.layout.cache_dir / "07").string()));
  CHECK_THAT(refusal, Contains("is a link to " + target.string()));
}

TEST_CASE("volumes: a shard that links to nothing, or to a file, is refused by name") {
  VolumeBench bench;
  const auto target = bench.shards / "07";
  if (GENERATE(false, true)) write_file(target, "a file");
  fs::create_symlink(target, bench.folder.layout.cache_dir / "07");

  const auto refusal = bench.refusal();

  CHECK_THAT(refusal, Contains((bench.folder.layout.cache_dir / "07").string()));
  CHECK_THAT(refusal, Contains(target.string()));
  CHECK_THAT(refusal, Contains("mounted?"));
}

TEST_CASE("volumes: a link is refused too when no volume is configured") {
  VolumeBench bench;
  bench.link("07", bench.shards / "07");

  const auto layout = with_linked_shards(bench.folder.layout, {});

  REQUIRE_FALSE(layout);
  CHECK_THAT(layout.error().detail(), Contains("of any volume"));
}

TEST_CASE("volumes: a location that is not there is refused, one without shards is not") {
  VolumeBench bench;
  fs::remove_all(bench.shards);
  CHECK(bench.resolve());

  fs::remove_all(bench.volume);
  CHECK_THAT(bench.refusal(), Contains(bench.volume.string()));
}

TEST_CASE("volumes: the cache folder itself is no volume's") {
  VolumeBench bench;
  const std::array locations = {fs::path(bench.folder.directory.path())};

  const auto layout = with_linked_shards(bench.folder.layout, locations);

  REQUIRE_FALSE(layout);
  CHECK_THAT(layout.error().detail(), Contains("castore.cache_dir itself"));
}

TEST_CASE("volumes: another file system has an upload folder of its own, one for all its volumes") {
  // Of these two at least one is another file system than the temporary folder is on.
  VolumeBench bench;
  const auto home = mount_of(bench.folder.layout.cache_dir);
  REQUIRE(home);
  std::unique_ptr<TemporaryDirectory> far;
  for (const auto* place : {"/dev/shm", "/var/tmp"}) {
    const auto mount = mount_of(place);
    if (mount && *mount != *home) far = std::make_unique<TemporaryDirectory>(fs::path(place));
  }
  if (far == nullptr) {
    WARN("skipped: there is one file system only");
    return;
  }
  const auto one = far->path() / "one";
  const auto two = far->path() / "two";
  bench.link("07", one / "cache" / "07");
  bench.link("08", two / "cache" / "08");
  bench.link("09", bench.shards / "09");
  const std::array locations = {one, bench.volume, two};

  const auto layout = with_linked_shards(bench.folder.layout, locations);

  REQUIRE(layout);
  CHECK(layout->filesystem_count() == 2);
  CHECK(layout->filesystem(digest_in_shard(0x07)) == 1);
  CHECK(layout->filesystem(digest_in_shard(0x08)) == 1);
  CHECK(layout->filesystem(digest_in_shard(0x09)) == 0);
  CHECK(layout->upload_dir_of(1) == one / "cache.upload");
  const auto id = UploadId::make(bench.folder.random, "node");
  CHECK(layout->upload(id, digest_in_shard(0x08)) == one / "cache.upload" / id.text());
  CHECK(layout->upload(id, digest_in_shard(0x09)) == layout->upload_dir / id.text());
}

}  // namespace
}  // namespace orlop
