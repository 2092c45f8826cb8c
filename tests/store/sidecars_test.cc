#include "store/sidecars.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cerrno>
#include <limits>

#include "core/digester.h"
#include "tests/core/golden.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

using Names = std::vector<std::string_view>;

/// The folder of a blob of 11 bytes, with any sidecars.
struct BlobFolder {
  StoreFolder store;
  std::string content = "hello world";
  Digest digest = digest_of(bytes_of(content));
  MetaInfo metainfo = *MetaInfo::make(digest, 11, 4, {1, 2, 3});
  std::filesystem::path path = store.layout.blob_folder(digest);
  PosixDisk disk;

  BlobFolder() { write_file(path / "data", content); }

  void put(std::string_view name, std::string_view bytes) const { write_file(path / name, bytes); }
  Sidecars read() {
    auto sidecars = read_sidecars(disk, path, digest, content.size());
    REQUIRE(sidecars);
    return *std::move(sidecars);
  }
};

TEST_CASE("sidecars: their bytes are Kraken's, both ways", "[golden]") {
  const auto vectors = golden("sidecars.json");
  REQUIRE(vectors.at("cases").size() == 8);
  for (const auto& one : vectors.at("cases")) {
    const auto bytes = bytes_of_hex(one.at("bytes_hex"));
    INFO(one.dump());
    if (one.at("kind") == "persist") {
      CHECK(one.at("suffix") == std::string(kPersistName));
      CHECK(parse_persist(bytes) == one.at("value").get<bool>());
      CHECK(encode_persist(one.at("value")) == bytes);
    } else {
      CHECK(one.at("suffix") == std::string(kLastAccessTimeName));
      CHECK(parse_last_access_time(bytes) == one.at("unix_seconds").get<std::int64_t>());
      CHECK(encode_last_access_time(one.at("unix_seconds")) == bytes);
    }
  }
}

TEST_CASE("sidecars: times that a running Kraken wrote are read and written alike", "[golden]") {
  // From uber/kraken's lib/store/metadata, run; reference kraken-formats-and-store.md, 2.4.
  const auto [hex, seconds] = GENERATE(table<std::string, std::int64_t>({
      {"7e00000000000000", 63},
      {"8001000000000000", 64},
      {"80c49fd50c000000", 1'700'000'000},
      {"80c1a7a60d000000", 1'785'000'000},
  }));
  CHECK(parse_last_access_time(bytes_of_hex(hex)) == seconds);
  CHECK(encode_last_access_time(seconds) == bytes_of_hex(hex));
}

TEST_CASE("sidecars: a time is its first varint, whatever follows") {
  const auto [hex, seconds] = GENERATE(table<std::string, std::optional<std::int64_t>>({
      {"80c49fd50c", 1'700'000'000},
      {"80c49fd50cffffff", 1'700'000'000},
      {"", std::nullopt},
      {"80c49fd5", std::nullopt},                                          // It is cut.
      {"ffffffffffffffffff01", std::numeric_limits<std::int64_t>::min()},  // All 64 bits.
      {"feffffffffffffffff01", std::numeric_limits<std::int64_t>::max()},
      {"ffffffffffffffffff02", std::nullopt},  // A 65th bit.
      {"ffffffffffffffffffff01", std::nullopt},
  }));
  INFO(hex);
  CHECK(parse_last_access_time(bytes_of_hex(hex)) == seconds);
}

TEST_CASE("sidecars: persist is one of Go's words for a bool and nothing else") {
  for (const auto* word : {"1", "t", "T", "TRUE", "true", "True"}) {
    CHECK(parse_persist(word) == true);
  }
  for (const auto* word : {"0", "f", "F", "FALSE", "false", "False"}) {
    CHECK(parse_persist(word) == false);
  }
  for (const auto* other : {"", "true\n", " true", "tRUE", "yes", "10"}) {
    CHECK(parse_persist(other) == std::nullopt);
  }
}

TEST_CASE("sidecars: a folder without any has none, and none is broken") {
  BlobFolder blob;

  const auto sidecars = blob.read();

  CHECK_FALSE(sidecars.metainfo);
  CHECK_FALSE(sidecars.persist);
  CHECK_FALSE(sidecars.last_access_time);
  CHECK(sidecars.broken.empty());
  CHECK_FALSE(sidecars.pinned());
}

TEST_CASE("sidecars: what Kraken wrote is read") {
  BlobFolder blob;
  blob.put("_torrentmeta", blob.metainfo.json());
  blob.put("_persist", "true");
  blob.put("_last_access_time", bytes_of_hex("80c49fd50c000000"));

  const auto sidecars = blob.read();

  REQUIRE(sidecars.metainfo);
  CHECK(sidecars.metainfo->json() == blob.metainfo.json());
  CHECK(sidecars.pinned());
  CHECK(sidecars.last_access_time == 1'700'000'000);
  CHECK(sidecars.broken.empty());
}

TEST_CASE("sidecars: an empty blob's metainfo is read") {
  BlobFolder blob;
  const auto empty = digest_of(bytes_of(""));
  const auto folder = blob.store.layout.blob_folder(empty);
  write_file(folder / "_torrentmeta", MetaInfo::make(empty, 0, 4, {})->json());

  const auto sidecars = read_sidecars(blob.disk, folder, empty, 0);

  REQUIRE(sidecars);
  CHECK(sidecars->metainfo.has_value());
}

TEST_CASE("sidecars: metainfo of something else than this blob is broken") {
  BlobFolder blob;
  const auto other = digest_of(bytes_of("another"));
  const auto truncated = blob.metainfo.json().substr(0, 40);  // A crash while it was written.
  const auto other_name = MetaInfo::make(other, 11, 4, {1, 2, 3})->json();
  const auto other_length = MetaInfo::make(blob.digest, 12, 4, {1, 2, 3})->json();
  auto too_few_sums = blob.metainfo.json();
  too_few_sums.replace(too_few_sums.find("[1,2,3]"), 7, "[1,2]");
  for (const auto& text : {std::string(), std::string("{"), blob.metainfo.json() + "x", truncated,
                           other_name, other_length, too_few_sums}) {
    INFO(text);
    blob.put("_torrentmeta", text);

    const auto sidecars = blob.read();

    CHECK_FALSE(sidecars.metainfo);
    CHECK(sidecars.broken == Names{"_torrentmeta"});
  }
}

TEST_CASE("sidecars: a metainfo longer than any of this blob's is not even read") {
  BlobFolder blob;
  WatchedDisk disk;
  blob.put("_torrentmeta", blob.metainfo.json() + std::string(1 << 20, ' '));

  const auto sidecars = read_sidecars(disk, blob.path, blob.digest, 11);

  REQUIRE(sidecars);
  CHECK(sidecars->broken == Names{"_torrentmeta"});
  CHECK(disk.log().count("read") == 0);
}

TEST_CASE("sidecars: a broken persist pins, as it stops Kraken's deletion") {
  BlobFolder blob;
  blob.put("_persist", GENERATE("", "true\n", "truetruetrue"));

  const auto sidecars = blob.read();

  CHECK_FALSE(sidecars.persist);
  CHECK(sidecars.broken == Names{"_persist"});
  CHECK(sidecars.pinned());
}

TEST_CASE("sidecars: persist that is false does not pin") {
  BlobFolder blob;
  blob.put("_persist", "false");

  CHECK_FALSE(blob.read().pinned());
}

TEST_CASE("sidecars: a broken time is named, a long one is read") {
  BlobFolder blob;
  blob.put("_last_access_time", "");
  CHECK(blob.read().broken == Names{"_last_access_time"});

  blob.put("_last_access_time", bytes_of_hex("80c49fd50c") + std::string(100'000, '\xff'));
  CHECK(blob.read().last_access_time == 1'700'000'000);
}

TEST_CASE("sidecars: links, FIFOs and directories are neither followed nor waited for") {
  BlobFolder blob;
  write_file(blob.store.directory.path() / "elsewhere", blob.metainfo.json());
  std::filesystem::create_symlink(blob.store.directory.path() / "elsewhere",
                                  blob.path / "_torrentmeta");
  REQUIRE(::mkfifo((blob.path / "_persist").c_str(), 0600) == 0);
  std::filesystem::create_directory(blob.path / "_last_access_time");

  const auto sidecars = blob.read();

  CHECK_FALSE(sidecars.metainfo);
  CHECK_FALSE(sidecars.persist);
  CHECK_FALSE(sidecars.last_access_time);
}

TEST_CASE("sidecars: a sidecar that cannot be read is broken and the others are read") {
  BlobFolder blob;
  blob.put("_torrentmeta", blob.metainfo.json());
  blob.put("_last_access_time", bytes_of_hex("80c49fd50c000000"));
  WatchedDisk disk;
  disk.refuse("open_for_reading", EACCES, "_torrentmeta");

  const auto sidecars = read_sidecars(disk, blob.path, blob.digest, 11);

  REQUIRE(sidecars);
  CHECK(sidecars->broken == Names{"_torrentmeta"});
  CHECK(sidecars->last_access_time == 1'700'000'000);
}

TEST_CASE("sidecars: without descriptors nothing is said of them") {
  BlobFolder blob;
  WatchedDisk disk;
  disk.refuse("open_for_reading", EMFILE, "_persist");

  const auto sidecars = read_sidecars(disk, blob.path, blob.digest, 11);

  REQUIRE_FALSE(sidecars);
  CHECK(sidecars.error().code() == Errc::busy);
}

}  // namespace
}  // namespace orlop
