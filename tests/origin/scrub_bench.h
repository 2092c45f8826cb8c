#pragma once

#include <catch2/catch.hpp>
#include <memory>
#include <string>
#include <utility>

#include "core/digester.h"
#include "metadata/catalogue.h"
#include "origin/blob_settlement.h"
#include "origin/catalogue_journal.h"
#include "origin/scrub.h"
#include "store/blob_files.h"
#include "store/blob_hash.h"
#include "tests/base/manual_clock.h"
#include "tests/origin/manual_stop.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {

/// Recorded blobs in a folder, and what a scrub of them needs.
struct ScrubBench {
  StoreFolder folder;
  WatchedDisk disk;
  ManualClock clock;
  PieceLengths lengths = piece_lengths({{0, 1 << 20}});
  std::unique_ptr<Catalogue> catalogue = opened();
  BlobFiles files{disk, clock, folder.layout};
  DigestClaims claims;
  BlobSettlement settlement{disk, clock, files, *catalogue, claims, lengths, folder.layout};
  ManualStop stop{clock};
  ScrubOptions options{.period = std::chrono::hours(24 * 30)};

  std::unique_ptr<Catalogue> opened() {
    auto catalogue_or = Catalogue::open({.path = folder.directory.path() / "db", .clock = &clock});
    REQUIRE(catalogue_or);
    return *std::move(catalogue_or);
  }

  Scrub scrub() {
    return {disk, clock, *catalogue, files, settlement, claims, lengths, stop, options};
  }

  /// A blob as a commit leaves it.
  Digest put(const std::string& bytes) {
    const auto digest = digest_of(bytes);
    write_file(folder.layout.blob(digest), bytes);
    const auto stat = disk.stat(folder.layout.blob(digest));
    REQUIRE(stat);
    const auto file = disk.open_for_reading(folder.layout.blob(digest));
    REQUIRE(file);
    const auto metainfo = hash_blob(disk, *file, lengths);
    REQUIRE(metainfo);
    const CommitEntry entry{.blob = {.size_bytes = bytes.size(),
                                     .blocks = stat->blocks,
                                     .committed_at = 0,
                                     .fingerprint = fingerprint_of(*stat)},
                            .metainfo = &*metainfo,
                            .task = std::nullopt,
                            .digest = digest};
    REQUIRE(catalogue->commit(std::span(&entry, 1)));
    return digest;
  }

  /// Rot below the file system: other bytes, and a fingerprint that fits all the same.
  void rot(Digest digest, const std::string& bytes) {
    write_file(folder.layout.blob(digest), bytes);
    const auto stat = disk.stat(folder.layout.blob(digest));
    REQUIRE(stat);
    REQUIRE(catalogue->renew_fingerprint(digest, fingerprint_of(*stat)));
  }

  bool recorded(Digest digest) const { return catalogue->blob(digest).has_value(); }

  ScrubRecord progress() const {
    const auto record = catalogue->scrub();
    REQUIRE(record);
    REQUIRE(*record);
    return **record;
  }
};

}  // namespace orlop
