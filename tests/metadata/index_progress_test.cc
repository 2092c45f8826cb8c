#include "metadata/index_progress.h"

#include <catch2/catch.hpp>

#include "base/hex.h"
#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/metadata/sample_blobs.h"

namespace orlop {
namespace {

const IndexProgress kSample{.folder = "/c:7",
                            .shards_done = 256,
                            .recorded = 1,
                            .hashed = 2,
                            .known = 3,
                            .quarantined = 4,
                            .ghosts = 5,
                            .foreign = 6,
                            .unreadable = 300};

TEST_CASE("index progress: its bytes are those of docs/formats.md, both ways", "[golden]") {
  const std::string hex = "9a01c4042f633a37cd0100010203040506cd012c";

  const auto bytes = encode_index_progress(kSample);

  CHECK(to_hex({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()}) == hex);
  const auto decoded = decode_index_progress(bytes);
  REQUIRE(decoded);
  CHECK(*decoded == kSample);
}

TEST_CASE("index progress: other bytes are corrupt") {
  auto bytes = encode_index_progress(kSample);
  auto beyond = kSample;
  beyond.shards_done = IndexProgress::kShards + 1;
  for (const auto& broken : {std::string(), bytes.substr(0, bytes.size() - 1), bytes + "x",
                             bytes.substr(0, 1) + "\x02" + bytes.substr(2),
                             "\x91" + bytes.substr(1), encode_index_progress(beyond)}) {
    CHECK(fails_with(decode_index_progress(broken), Errc::corrupt));
  }
}

TEST_CASE("index progress: the catalogue keeps it over a restart") {
  const TemporaryDirectory directory;
  const ManualClock clock;
  const CatalogueOptions options{.path = directory.path() / "db", .clock = &clock};
  {
    auto catalogue = open_catalogue(options);
    CHECK(fails_with(catalogue->index_progress(), Errc::not_found));
    REQUIRE(catalogue->put_index_progress(kSample));
  }

  const auto kept = open_catalogue(options)->index_progress();

  REQUIRE(kept);
  CHECK(*kept == kSample);
}

}  // namespace
}  // namespace orlop
