// How an upload uses the space that is promised to it.

#include <catch2/catch.hpp>

#include "core/digester.h"
#include "store/free_space.h"
#include "store/upload_table.h"
#include "tests/base/manual_clock.h"
#include "tests/store/store_folder.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kStep = 8 << 20;

struct Bench {
  StoreFolder folder;
  PosixDisk disk;
  ManualClock clock;
  FreeSpace space{folder.directory.path(), clock, 0};
  UploadTable table{disk, clock, folder.random, folder.layout, folder.lengths, {}};

  std::shared_ptr<Upload> start(std::uint64_t size_bytes) {
    Reservation reservation;
    REQUIRE(space.reserve(reservation, size_bytes));
    auto upload = table.start(digest_of("any"), UploadLife::resumable, std::move(reservation));
    REQUIRE(upload);
    (*upload)->announce(size_bytes);
    return *std::move(upload);
  }

  /// As a PATCH does.
  Result<> chunk(Upload& upload, std::uint64_t offset, std::string_view text) {
    const auto end = offset + text.size();
    if (auto held = space.reserve(upload.space, upload.bytes_to_come(end)); !held) return held;
    upload.announce(end);
    return put_chunk(upload, offset, text);
  }
};

TEST_CASE("upload space: what was announced shrinks by what arrives") {
  Bench bench;
  const auto upload = bench.start(10);
  CHECK(bench.space.reserved_bytes() == 10);
  REQUIRE(bench.chunk(*upload, 0, "1234"));
  CHECK(bench.space.reserved_bytes() == 6);
  REQUIRE(bench.chunk(*upload, 4, "567890"));
  CHECK(bench.space.reserved_bytes() == 0);
}

TEST_CASE("upload space: a chunk behind what was announced makes it more") {
  Bench bench;
  const auto upload = bench.start(0);
  CHECK(bench.space.reserved_bytes() == 0);
  CHECK(upload->bytes_to_come(100) == 100);
  upload->announce(100);
  CHECK(upload->bytes_to_come(50) == 100);
  REQUIRE(bench.chunk(*upload, 0, "1234"));
  CHECK(bench.space.reserved_bytes() == 96);
}

TEST_CASE("upload space: bytes that are sent again take no more space") {
  Bench bench;
  const auto upload = bench.start(4);
  REQUIRE(bench.chunk(*upload, 0, "1234"));
  CHECK(upload->bytes_to_come(4) == 0);
  REQUIRE(bench.chunk(*upload, 0, "1234"));
  CHECK(bench.space.reserved_bytes() == 0);
}

TEST_CASE("upload space: a hole is space that is still to be taken") {
  Bench bench;
  const auto upload = bench.start(0);
  REQUIRE(bench.chunk(*upload, 6, "6789"));
  CHECK(upload->size_bytes() == 10);
  CHECK(bench.space.reserved_bytes() == 6);
  REQUIRE(bench.chunk(*upload, 0, "012345"));
  CHECK(upload->bytes_to_come(10) == 0);
  CHECK(bench.space.reserved_bytes() == 0);
}

TEST_CASE("upload space: a chunk that is undone has to be held again") {
  Bench bench;
  const auto upload = bench.start(0);
  REQUIRE(bench.chunk(*upload, 0, "12"));
  REQUIRE(bench.chunk(*upload, 6, "6789"));
  REQUIRE(upload->undo_chunk());
  CHECK(upload->size_bytes() == 2);
  CHECK(upload->bytes_to_come(10) == 8);
}

TEST_CASE("upload space: bytes that nobody announced are covered while they come") {
  Bench bench;
  const auto upload = bench.start(0);
  upload->begin_chunk(0);
  REQUIRE(upload->append(bytes_of("123")));
  CHECK(bench.space.reserved_bytes() == kStep - 3);
}

TEST_CASE("upload space: an upload that ends gives back what it did not use") {
  Bench bench;
  const auto upload = bench.start(1000);
  REQUIRE(bench.chunk(*upload, 0, "123"));
  bench.table.discard(*upload);
  CHECK(bench.space.reserved_bytes() == 0);
}

TEST_CASE("upload space: a promise that nobody uses ends before its upload") {
  Bench bench;
  const auto id = bench.start(1000)->id();
  bench.clock.advance(5min - 1ns);
  CHECK(bench.table.discard_idle() == 0);
  CHECK(bench.space.reserved_bytes() == 1000);
  bench.clock.advance(1ns);
  CHECK(bench.table.discard_idle() == 0);
  CHECK(bench.space.reserved_bytes() == 0);

  // Its next chunk asks for all of it again.
  const auto upload = bench.table.find(id, digest_of("any"));
  REQUIRE(upload);
  REQUIRE(bench.chunk(*upload, 0, "123"));
  CHECK(bench.space.reserved_bytes() == 997);
  bench.clock.advance(1h);
  CHECK(bench.table.discard_idle() == 0);
  CHECK(bench.space.reserved_bytes() == 997);  // Somebody holds the upload: it is in use.
}

TEST_CASE("upload space: an upload of a former process holds nothing until its next chunk") {
  Bench bench;
  const auto id = bench.start(1000)->id();
  const auto before = bench.table.find(id, digest_of("any"));
  REQUIRE(bench.chunk(*before, 0, "12345"));

  FreeSpace space(bench.folder.directory.path(), bench.clock, 0);
  UploadTable table(bench.disk, bench.clock, bench.folder.random, bench.folder.layout,
                    bench.folder.lengths, {});
  REQUIRE(table.recover());
  const auto upload = table.find(id, digest_of("any"));
  REQUIRE(upload);
  CHECK(upload->space.bytes() == 0);
  REQUIRE(space.reserve(upload->space, upload->bytes_to_come(9)));
  CHECK(space.reserved_bytes() == 4);
}

}  // namespace
}  // namespace orlop
