#pragma once

#include <memory>
#include <utility>

#include "base/check.h"
#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "core/piece.h"
#include "origin/origin.h"
#include "tests/base/temporary_directory.h"

namespace orlop {

/// A whole origin, empty, in a folder of its own. A `disk` that the test gives outlives it.
class TestOrigin {
 public:
  /// Without syncs where a test does not ask for them: the file system is shared with other tests.
  explicit TestOrigin(Durability durability = Durability::never, Disk* disk = nullptr) {
    OriginOptions options;
    options.layout = {.upload_dir = directory_.path() / "upload",
                      .cache_dir = directory_.path() / "cache"};
    options.database_dir = directory_.path() / "db";
    options.durability = durability;
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
                               std::move(node), disk != nullptr ? *disk : disk_, clock_, random_);
    ORLOP_CHECK(opened.has_value());
    origin_ = *std::move(opened);
  }

  Origin& get() { return *origin_; }

 private:
  TemporaryDirectory directory_;
  PosixDisk disk_;
  SystemClock clock_;
  Random random_{30};
  std::unique_ptr<Origin> origin_;
};

}  // namespace orlop
