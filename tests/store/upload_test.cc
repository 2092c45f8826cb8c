#include "store/upload.h"

#include <catch2/catch.hpp>
#include <cerrno>

#include "core/crc32.h"
#include "core/digester.h"
#include "tests/core/golden.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

/// What the metainfo of these bytes has to be, by another way than the upload's.
std::string expected_json(const PieceLengths& lengths, std::string_view bytes) {
  const auto length = lengths.for_size(bytes.size());
  std::vector<std::uint32_t> sums;
  for (std::size_t at = 0; at < bytes.size(); at += length) {
    sums.push_back(crc32(0, bytes_of(bytes.substr(at, length))));
  }
  return MetaInfo::make(digest_of(bytes), bytes.size(), length, std::move(sums))->json();
}

struct OneUpload {
  StoreFolder folder;
  WatchedDisk disk;
  std::shared_ptr<Upload> upload = folder.upload(disk, digest_of("what the client said"));

  /// "" if finish() gives the metainfo of these bytes.
  std::string mistake(std::string_view bytes) {
    const auto metainfo = upload->finish();
    if (!metainfo) return metainfo.error().detail();
    const auto expected = expected_json(folder.lengths, bytes);
    return metainfo->json() == expected ? "" : metainfo->json() + " and not " + expected;
  }
  std::size_t reads() { return disk.log().count("read"); }
};

TEST_CASE("upload: bytes that come in order are hashed without reading the file") {
  const auto bytes = pattern(2'000'000);
  const auto table =
      GENERATE(as<std::map<std::uint64_t, std::uint64_t>>(),
               std::map<std::uint64_t, std::uint64_t>{{0, 4096}},
               std::map<std::uint64_t, std::uint64_t>{{0, 1 << 18}, {1 << 20, 1 << 19}},
               std::map<std::uint64_t, std::uint64_t>{{0, 3}, {9, 1000}, {99, 4096}});
  OneUpload one;
  one.folder.lengths = piece_lengths(table);
  one.upload = one.folder.upload(one.disk, digest_of(bytes));

  const std::string_view all = bytes;
  REQUIRE(put_chunk(*one.upload, 0, all.substr(0, 700'001)));
  REQUIRE(put_chunk(*one.upload, 700'001, all.substr(700'001, 1)));
  one.upload->begin_chunk(700'002);
  REQUIRE(one.upload->append(bytes_of(all.substr(700'002, 65'536))));
  REQUIRE(one.upload->append(bytes_of(all.substr(765'538))));

  CHECK(one.mistake(bytes) == "");
  CHECK(one.reads() == 0);
  CHECK(one.upload->size_bytes() == bytes.size());
  CHECK(read_file(one.upload->path()) == bytes);
}

TEST_CASE("upload: with too many piece lengths to keep sums for, the file is read once") {
  OneUpload one;
  one.folder.lengths = piece_lengths({{0, 2}, {10, 3}, {20, 5}, {30, 7}, {40, 11}});
  one.upload = one.folder.upload(one.disk, digest_of(""));
  REQUIRE(put_chunk(*one.upload, 0, "twenty and some bytes"));

  CHECK(one.mistake("twenty and some bytes") == "");
  CHECK(one.reads() == 2);  // The bytes, and the end.
}

TEST_CASE("upload: nothing at all is the empty blob") {
  OneUpload one;
  CHECK(one.mistake("") == "");
  one.upload->begin_chunk(0);
  CHECK(one.mistake("") == "");
  CHECK(one.reads() == 0);
}

TEST_CASE("upload: the last chunk may be sent again, and the file is still not read") {
  OneUpload one;
  REQUIRE(put_chunk(*one.upload, 0, "first "));
  REQUIRE(put_chunk(*one.upload, 6, "second"));
  REQUIRE(put_chunk(*one.upload, 6, "SECOND"));

  CHECK(one.mistake("first SECOND") == "");
  CHECK(one.reads() == 0);
}

TEST_CASE("upload: the last chunk may be sent again in two parts") {
  OneUpload one;
  REQUIRE(put_chunk(*one.upload, 0, "first "));
  REQUIRE(put_chunk(*one.upload, 6, "second"));
  REQUIRE(put_chunk(*one.upload, 6, "SEC"));
  CHECK(one.mistake("first SECond") == "");  // The rest of the old chunk is still there.
  one.disk.log().clear();

  REQUIRE(put_chunk(*one.upload, 9, "OND"));

  CHECK(one.mistake("first SECOND") == "");
  CHECK(one.reads() == 0);
}

TEST_CASE("upload: an earlier chunk may be sent again after later ones") {
  OneUpload one;
  REQUIRE(put_chunk(*one.upload, 0, "one "));
  REQUIRE(put_chunk(*one.upload, 4, "two "));
  REQUIRE(put_chunk(*one.upload, 8, "three"));
  REQUIRE(put_chunk(*one.upload, 0, "ONE "));

  CHECK(one.mistake("ONE two three") == "");

  REQUIRE(put_chunk(*one.upload, 13, " four"));
  CHECK(one.mistake("ONE two three four") == "");
}

TEST_CASE("upload: chunks may come in any order, with gaps until they are filled") {
  OneUpload one;
  REQUIRE(put_chunk(*one.upload, 8, "three"));
  CHECK(one.mistake(std::string(8, '\0') + "three") == "");
  CHECK(one.upload->size_bytes() == 13);
  REQUIRE(put_chunk(*one.upload, 4, "two "));
  REQUIRE(put_chunk(*one.upload, 0, "one "));

  CHECK(one.mistake("one two three") == "");
}

TEST_CASE("upload: finish may be called again, and the upload goes on after it") {
  OneUpload one;
  REQUIRE(put_chunk(*one.upload, 0, "one "));
  CHECK(one.mistake("one ") == "");
  CHECK(one.mistake("one ") == "");
  REQUIRE(put_chunk(*one.upload, 4, "two"));

  CHECK(one.mistake("one two") == "");
  CHECK(one.reads() == 0);
}

TEST_CASE("upload: after undo_chunk the right content gives the right digest") {
  struct Case {
    std::string what;
    std::vector<std::pair<std::uint64_t, std::string>> kept;
    std::uint64_t undone_at;
    std::string undone;
    std::vector<std::pair<std::uint64_t, std::string>> then;
  };
  const auto one_case = GENERATE(values<Case>({
      {"the first chunk", {}, 0, "wrong", {{0, "one two three"}}},
      {"the first chunk, empty", {}, 0, "", {{0, "one two three"}}},
      {"a chunk in order", {{0, "one "}}, 4, "wrong and long", {{4, "two three"}}},
      {"a longer resend of the last chunk",
       {{0, "one "}, {4, "two "}},
       4,
       "xxxxxxx",
       {{4, "two three"}}},
      {"a shorter resend of the last chunk",
       {{0, "one "}, {4, "two "}},
       4,
       "xx",
       {{4, "two "}, {8, "three"}}},
      {"an empty resend of the last chunk", {{0, "one "}, {4, "two "}}, 4, "", {{8, "three"}}},
      {"a resend of an earlier chunk",
       {{0, "one "}, {4, "two "}, {8, "three"}},
       0,
       "xxxx",
       {{0, "one "}}},
      {"an empty resend of an earlier chunk", {{0, "one "}, {4, "two "}, {8, "three"}}, 0, "", {}},
      {"a resend over everything",
       {{0, "one "}, {4, "two "}, {8, "three"}},
       0,
       std::string(30, 'x'),
       {{0, "one two three"}}},
      {"a chunk behind a gap", {{0, "one "}}, 8, "xxxxx", {{4, "two "}, {8, "three"}}},
      {"an empty chunk behind a gap", {{0, "one "}}, 8, "", {{4, "two three"}}},
      {"a chunk in front of a gap", {{8, "three"}}, 0, "xxxxxx", {{0, "one two "}}},
      {"a chunk that is out of order already",
       {{8, "three"}, {4, "two "}},
       13,
       "xxx",
       {{0, "one "}}},
      {"a chunk inside the last one", {{0, "one "}, {4, "two three"}}, 6, "xx", {{4, "two three"}}},
      {"the rest of a shorter resend",
       {{0, "one "}, {4, "xxxxxxxxx"}, {4, "two "}},
       8,
       "yy",
       {{8, "three"}}},
  }));
  INFO(one_case.what);
  OneUpload one;
  for (const auto& [offset, text] : one_case.kept) REQUIRE(put_chunk(*one.upload, offset, text));
  const auto size_before = one.upload->size_bytes();

  one.upload->begin_chunk(one_case.undone_at);
  if (!one_case.undone.empty()) REQUIRE(one.upload->append(bytes_of(one_case.undone)));
  REQUIRE(one.upload->undo_chunk());

  CHECK(one.upload->size_bytes() == size_before);
  CHECK(std::filesystem::file_size(one.upload->path()) == size_before);
  CHECK(one.mistake(read_file(one.upload->path())) == "");  // Right about what is there now, too.
  for (const auto& [offset, text] : one_case.then) REQUIRE(put_chunk(*one.upload, offset, text));
  CHECK(one.mistake("one two three") == "");
}

TEST_CASE("upload: a chunk in order that was undone costs no reading") {
  OneUpload one;
  REQUIRE(put_chunk(*one.upload, 0, "one "));
  REQUIRE(put_chunk(*one.upload, 4, "wrong and long"));
  REQUIRE(one.upload->undo_chunk());
  REQUIRE(put_chunk(*one.upload, 4, "two"));

  CHECK(one.mistake("one two") == "");
  CHECK(one.reads() == 0);
}

TEST_CASE("upload: one of a former process is hashed from its file, and can be continued") {
  OneUpload one;
  write_file(one.folder.layout.upload_dir / "left", "one ");
  auto file = one.disk.open(one.folder.layout.upload_dir / "left");
  REQUIRE(file);
  Upload recovered(one.disk, one.folder.lengths, one.upload->id(), digest_of("x"),
                   one.folder.layout.upload_dir / "left", *std::move(file), 4);
  CHECK(recovered.size_bytes() == 4);

  REQUIRE(put_chunk(recovered, 4, "two"));

  const auto metainfo = recovered.finish();
  REQUIRE(metainfo);
  CHECK(metainfo->json() == expected_json(one.folder.lengths, "one two"));
  CHECK(one.reads() > 0);
}

TEST_CASE("upload: a failed sync spoils it for good, even if the next sync succeeds") {
  OneUpload one;
  REQUIRE(put_chunk(*one.upload, 0, "one"));
  one.disk.refuse("sync_data", EIO);

  const auto failed = one.upload->sync();

  REQUIRE_FALSE(failed);
  CHECK(failed.error().code() == Errc::busy);
  one.disk.refuse_nothing();
  CHECK_FALSE(one.upload->sync());
  REQUIRE(put_chunk(*one.upload, 3, " more"));
  const auto finished = one.upload->finish();
  REQUIRE_FALSE(finished);
  CHECK(finished.error().code() == Errc::busy);
}

TEST_CASE("upload: counts the bytes that no sync has covered") {
  OneUpload one;
  REQUIRE(put_chunk(*one.upload, 0, "12345"));
  CHECK(one.upload->unsynced_bytes() == 5);
  REQUIRE(one.upload->sync());
  CHECK(one.upload->unsynced_bytes() == 0);
  REQUIRE(put_chunk(*one.upload, 5, "678"));
  CHECK(one.upload->unsynced_bytes() == 3);
}

TEST_CASE("upload: asks for write-back behind each 8 MiB, and never for all of it at once") {
  OneUpload one;
  const auto megabyte = pattern(1 << 20);
  one.upload->begin_chunk(0);
  for (int i = 0; i < 20; ++i) REQUIRE(one.upload->append(bytes_of(megabyte)));

  CHECK(one.disk.log().count("start_writeback") == 2);
}

TEST_CASE("upload: a write that fails says why") {
  OneUpload one;
  one.disk.refuse("write", ENOSPC);
  const auto written = put_chunk(*one.upload, 0, "bytes");
  REQUIRE_FALSE(written);
  CHECK(written.error().code() == Errc::busy);
}

}  // namespace
}  // namespace orlop
