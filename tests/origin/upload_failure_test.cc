#include <catch2/catch.hpp>
#include <cerrno>

#include "core/digester.h"
#include "origin/origin.h"
#include "tests/base/temporary_directory.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

/// A whole origin on a disk that refuses what a test names.
struct Bench {
  TemporaryDirectory directory;
  WatchedDisk disk;
  SystemClock clock;
  Random random{31};
  asio::io_context io;  // Before the origin, whose pool wakes coroutines on it.
  std::unique_ptr<Origin> origin;

  Bench() {
    OriginOptions options;
    options.layout = {.upload_dir = directory.path() / "upload",
                      .cache_dir = directory.path() / "cache"};
    options.database_dir = directory.path() / "db";
    options.durability = Durability::group;
    options.free_bytes_min = 0;
    options.disk_threads = 2;
    NodeIdentity node{.ring_label = "localhost:15002",
                      .peer_context = {.ip = "localhost",
                                       .port = 15001,
                                       .peer_id = PeerId::from_address("localhost", 15001),
                                       .zone = {},
                                       .cluster = {},
                                       .origin = true}};
    auto opened = Origin::open(std::move(options), *PieceLengths::make({{0, 4096}}),
                               std::move(node), disk, clock, random);
    ORLOP_CHECK(opened.has_value());
    origin = *std::move(opened);
  }

  template <class T>
  T run(Task<T> task) {
    std::optional<T> result;
    auto body = [](Task<T> inner, std::optional<T>& out) -> Task<> {
      out.emplace(co_await std::move(inner));
    };
    io.restart();
    asio::co_spawn(io, body(std::move(task), result), rethrow);
    const auto guard = asio::make_work_guard(io);
    while (!result) io.run_one();
    return *std::move(result);
  }

  std::string promised() const { return origin->status().at(3); }
  bool upload_dir_is_empty() const {
    return std::filesystem::is_empty(directory.path() / "upload");
  }
};

const std::string kNothingPromised = "space promised to uploads: 0 bytes";

void fill(ChunkWriter& writer, std::size_t count) {
  const auto space = writer.space();
  ORLOP_CHECK(count <= space.size());
  std::fill_n(space.begin(), count, std::byte{'x'});
}

TEST_CASE("a write that fails for want of space or of a sound disk ends the upload, as busy") {
  const int error_number = GENERATE(ENOSPC, EDQUOT, EROFS, EIO);
  CAPTURE(error_number);
  Bench bench;
  const auto digest = digest_of("whatever");
  auto started = bench.run(bench.origin->uploads().start(digest, 5000, std::nullopt));
  REQUIRE(started);
  const auto id = std::string((**started).text());
  CHECK(bench.promised() == "space promised to uploads: 5000 bytes");
  auto begun = bench.run(bench.origin->uploads().begin_chunk(
      digest, id, ChunkRange{.start = 0, .end = 5000}, nullptr));
  REQUIRE(begun);
  bench.disk.refuse("write", error_number);

  auto& writer = **begun;
  fill(writer, 1000);
  auto written = bench.run(writer.filled(1000));
  if (written) written = bench.run(writer.finish());

  REQUIRE_FALSE(written);
  CHECK(written.error().code() == Errc::busy);
  CHECK(bench.upload_dir_is_empty());
  CHECK(bench.promised() == kNothingPromised);
  CHECK_FALSE(bench.origin->uploads().received_bytes(digest, id));
}

TEST_CASE("a blob in one request whose write fails leaves nothing behind") {
  Bench bench;
  auto single = bench.run(bench.origin->uploads().begin_single(digest_of("x"), 4000));
  REQUIRE(single);
  CHECK(bench.promised() == "space promised to uploads: 4000 bytes");
  bench.disk.refuse("write", ENOSPC);

  fill(single->writer, 4000);
  auto written = bench.run(single->writer.filled(4000));
  if (written) written = bench.run(single->writer.finish());

  REQUIRE_FALSE(written);
  CHECK(written.error().code() == Errc::busy);
  CHECK(bench.upload_dir_is_empty());
  CHECK(bench.promised() == kNothingPromised);
}

TEST_CASE("a commit that fails for want of space is busy, and keeps what was uploaded") {
  const auto* call = GENERATE("make_directory", "rename");
  CAPTURE(call);
  Bench bench;
  const std::string bytes(100, 'x');
  const auto digest = digest_of(bytes);
  auto started = bench.run(bench.origin->uploads().start(digest, 100, std::nullopt));
  REQUIRE(started);
  const auto id = std::string((**started).text());
  auto begun = bench.run(
      bench.origin->uploads().begin_chunk(digest, id, ChunkRange{.start = 0, .end = 100}, nullptr));
  REQUIRE(begun);
  fill(**begun, 100);
  REQUIRE(bench.run((**begun).filled(100)));
  REQUIRE(bench.run((**begun).finish()));
  bench.disk.refuse(call, ENOSPC);

  const auto refused = bench.run(bench.origin->uploads().commit(digest, id, CommitNote()));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::busy);
  CHECK(bench.origin->uploads().received_bytes(digest, id) == 100);

  bench.disk.refuse_nothing();
  CHECK(bench.run(bench.origin->uploads().commit(digest, id, CommitNote())));
  CHECK(bench.upload_dir_is_empty());
  CHECK(bench.promised() == kNothingPromised);
}

TEST_CASE("a chunk for which there is no space leaves the upload as it was") {
  Bench bench;
  const auto digest = digest_of("whatever");
  auto started = bench.run(bench.origin->uploads().start(digest, 0, std::nullopt));
  REQUIRE(started);
  const auto id = std::string((**started).text());
  const ChunkRange huge{.start = 0, .end = std::uint64_t{1} << 40};

  auto refused = bench.run(bench.origin->uploads().begin_chunk(digest, id, huge, nullptr));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code() == Errc::busy);
  CHECK(bench.promised() == kNothingPromised);
}

}  // namespace
}  // namespace orlop
