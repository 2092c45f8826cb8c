#include "store/checked_reader.h"

#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/crc32.h"
#include "core/digester.h"
#include "tests/core/golden.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

SharedMetaInfo cut(std::string_view bytes, std::uint64_t piece_length) {
  std::vector<std::uint32_t> sums;
  for (std::size_t at = 0; at < bytes.size(); at += piece_length) {
    sums.push_back(crc32(0, bytes_of(bytes.substr(at, piece_length))));
  }
  auto made = MetaInfo::make(digest_of(bytes), bytes.size(), piece_length, std::move(sums));
  REQUIRE(made);
  return std::make_shared<const MetaInfo>(*std::move(made));
}

/// A blob in a file, with a reader that knows how it was cut.
struct Blob {
  Blob(std::string content, std::uint64_t piece_length)
      : bytes(std::move(content)), metainfo(cut(bytes, piece_length)) {
    write_file(path, bytes);
  }

  void change(std::size_t at) {
    auto changed = bytes;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    write_file(path, changed);
  }
  UniqueFd open() {
    auto file = disk.open_for_reading(path);
    REQUIRE(file);
    return *std::move(file);
  }
  /// What comes from `offset` up to `end`, or up to the first error.
  std::string read(CheckedReader& reader, std::uint64_t offset, std::uint64_t end) {
    const auto file = open();
    std::string text;
    while (offset < end) {
      const auto got = reader.read(file, offset);
      if (!got) {
        CHECK(got.error().code() == Errc::corrupt);
        return text + "!";
      }
      REQUIRE_FALSE(got->empty());
      const auto count = std::min<std::uint64_t>(got->size(), end - offset);
      text.append(reinterpret_cast<const char*>(got->data()), count);
      offset += count;
    }
    return text;
  }

  StoreFolder folder;
  std::filesystem::path path = folder.layout.upload_dir / "file";
  WatchedDisk disk;
  std::string bytes;
  SharedMetaInfo metainfo;
};

std::string content(std::size_t size) { return pattern(size); }

TEST_CASE("checked reader: right bytes come whole, however the blob is cut") {
  const auto size = GENERATE(std::size_t{1}, kMiB - 1, kMiB, 3 * kMiB + 5);
  const auto piece_length = GENERATE(std::uint64_t{4096}, 5000, kMiB, 2 * kMiB, 64 * kMiB);
  CAPTURE(size, piece_length);
  Blob blob(content(size), piece_length);
  CheckedReader reader(blob.disk, blob.metainfo);

  CHECK((blob.read(reader, 0, size) == blob.bytes));
}

TEST_CASE("checked reader: a wrong byte stops the read before its piece, and no sooner") {
  const auto [wrong, before] =
      GENERATE(table<std::size_t, std::size_t>({{0, 0},                    // First piece.
                                                {2 * kMiB - 1, 0},         //
                                                {2 * kMiB, 2 * kMiB},      // Middle piece.
                                                {4 * kMiB - 1, 2 * kMiB},  //
                                                {4 * kMiB, 4 * kMiB},      // Last, shorter.
                                                {4 * kMiB + 6, 4 * kMiB}}));
  CAPTURE(wrong);
  Blob blob(content(4 * kMiB + 7), 2 * kMiB);
  blob.change(wrong);
  CheckedReader reader(blob.disk, blob.metainfo);

  CHECK((blob.read(reader, 0, blob.bytes.size()) == blob.bytes.substr(0, before) + "!"));
}

TEST_CASE("checked reader: a wrong byte beside a range but in its piece stops the range too") {
  Blob blob(content(4 * kMiB), 2 * kMiB);
  blob.change(2 * kMiB + 100);
  CheckedReader reader(blob.disk, blob.metainfo);

  CHECK(blob.read(reader, 3 * kMiB, 3 * kMiB + 10) == "!");
  CHECK((blob.read(reader, 10, 20) == blob.bytes.substr(10, 10)));  // In another piece.
  CHECK((blob.read(reader, 2 * kMiB - 5, 2 * kMiB + 5) ==
         blob.bytes.substr(2 * kMiB - 5, 5) + "!"));  // Over both.
}

TEST_CASE("checked reader: ranges inside one piece read it once") {
  Blob blob(content(4 * kMiB), 2 * kMiB);
  CheckedReader reader(blob.disk, blob.metainfo);
  for (std::uint64_t at = 0; at < 2 * kMiB; at += kMiB / 4) {
    CHECK((blob.read(reader, at, at + 7) == blob.bytes.substr(at, 7)));
  }
  CHECK(blob.disk.log().count("read") == 1);

  CHECK((blob.read(reader, 2 * kMiB, 2 * kMiB + 7) == blob.bytes.substr(2 * kMiB, 7)));
  CHECK(blob.disk.log().count("read") == 2);
}

TEST_CASE("checked reader: after a bad piece nothing of it is handed out from memory") {
  Blob blob(content(2 * kMiB), 2 * kMiB);
  CheckedReader reader(blob.disk, blob.metainfo);
  blob.change(5);
  CHECK(blob.read(reader, 0, 10) == "!");
  CHECK(blob.read(reader, 0, 10) == "!");
}

TEST_CASE("checked reader: a file that became shorter, or all zeros, is corrupt") {
  Blob blob(content(3 * kMiB), kMiB);
  CheckedReader reader(blob.disk, blob.metainfo);
  write_file(blob.path, blob.bytes.substr(0, 3 * kMiB - 1));
  CHECK((blob.read(reader, 0, 3 * kMiB) == blob.bytes.substr(0, 2 * kMiB) + "!"));
  write_file(blob.path, {});
  CHECK(blob.read(reader, 0, 3 * kMiB) == "!");
  CheckedReader again(blob.disk, blob.metainfo);
  write_file(blob.path, std::string(3 * kMiB, '\0'));
  CHECK(blob.read(again, 0, 3 * kMiB) == "!");
}

TEST_CASE("checked reader: memory is one window of whole pieces") {
  const auto window = [](std::uint64_t size, std::uint64_t piece_length) {
    return CheckedReader::window_bytes(*cut(content(size), piece_length));
  };
  CHECK(window(3 * kMiB, 4096) == kMiB);
  CHECK(window(3 * kMiB, kMiB - 1) == kMiB - 1);
  CHECK(window(3 * kMiB, 2 * kMiB) == 2 * kMiB);
  CHECK(window(100, 2 * kMiB) == 100);
  CHECK(window(0, 4096) == 0);
}

}  // namespace
}  // namespace orlop
