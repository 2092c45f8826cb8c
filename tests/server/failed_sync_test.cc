#include <algorithm>
#include <catch2/catch.hpp>
#include <cerrno>
#include <string>
#include <string_view>

#include "tests/server/loopback_session.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kMib = 1 << 20;

/// A client of an origin whose disk refuses what a test says, and that syncs while bytes arrive.
struct Bench {
  WatchedDisk disk;
  LoopbackSession session{{.idle_max = 30s, .progress_max = 30s}, Durability::group, &disk};
  const std::string uploads = "/namespace/n/blobs/sha256:" + std::string(64, 'a') + "/uploads";

  /// The status and the header of the answer to a request without a body.
  std::string ask(std::string_view method, const std::string& path) {
    session.send(std::string(method) + " " + path + " HTTP/1.1\r\nHost: x\r\n\r\n");
    return session.received_until("\r\n\r\n");
  }
  std::string start() {
    const auto answer = ask("POST", uploads);
    const std::string_view name = "Location: ";
    const auto at = answer.find(name) + name.size();
    return uploads + "/" + answer.substr(at, answer.find('\r', at) - at);
  }
  /// Zeros; the digest is never theirs, so a commit that got as far would be 400.
  void send_chunk(const std::string& upload, std::size_t bytes) {
    session.send("PATCH " + upload + " HTTP/1.1\r\nHost: x\r\nContent-Range: 0-" +
                 std::to_string(bytes) + "\r\nContent-Length: " + std::to_string(bytes) +
                 "\r\n\r\n");
    const std::string zeros(kMib, '\0');
    for (std::size_t sent = 0; sent < bytes; sent += kMib) {
      if (!session.send(std::string_view(zeros).substr(0, std::min(kMib, bytes - sent)))) return;
    }
  }
  bool has_removed_an_upload() {
    for (const auto& call : disk.log().calls()) {
      if (call.name == "remove_file" && call.path.string().find("/upload/") != std::string::npos) {
        return true;
      }
    }
    return false;
  }
};

TEST_CASE("upload: a sync that fails while bytes arrive is 503 and the end of the upload") {
  Bench bench;
  const auto upload = bench.start();
  bench.disk.refuse("sync_data", EIO);

  bench.send_chunk(upload, 48 * kMib);

  const auto answer = bench.session.received();
  CHECK(answer.starts_with("HTTP/1.1 503 "));
  CHECK(answer.find("Retry-After: ") != std::string::npos);
  CHECK(bench.has_removed_an_upload());
}

TEST_CASE("upload: a sync that failed behind the last byte is found at the commit") {
  Bench bench;
  const auto upload = bench.start();
  bench.disk.refuse("sync_data", EIO);
  // The first sync begins when the bytes of one more buffer are to be written.
  bench.send_chunk(upload, 32 * kMib + 1);
  REQUIRE(bench.session.received_until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
  CHECK_FALSE(bench.has_removed_an_upload());

  CHECK(bench.ask("PUT", upload).starts_with("HTTP/1.1 503 "));

  CHECK(bench.has_removed_an_upload());
}

}  // namespace
}  // namespace orlop
