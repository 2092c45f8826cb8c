#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/worker_pool.h"
#include "metadata/index_progress.h"
#include "metadata/metadata_kind.h"
#include "metadata/metainfo_cache.h"
#include "store/committer.h"
#include "store/free_space.h"

namespace orlop {

/// The present pass of the scrub, or the last one.
struct ScrubFigures {
  bool on = false;                     ///< If not, all the rest is 0.
  bool finished = false;               ///< It rests until the next pass is due.
  double done = 0;                     ///< 0 to 1, of all blobs.
  std::int64_t started_at = 0;         ///< Seconds since 1970; 0: not begun.
  std::uint64_t blobs = 0;             ///< Read whole, and right.
  std::uint64_t bytes = 0;             ///< Of those.
  std::uint64_t bad = 0;               ///< Set aside, or gone.
  std::uint64_t skipped = 0;           ///< Left to the next pass.
  std::uint64_t bytes_per_second = 0;  ///< How fast it goes on; 0 if it rests.
};

/// How many blobs were removed since the start, by what asked for it.
struct RemovalStats {
  std::uint64_t deleted = 0;     ///< By name.
  std::uint64_t cleaned_up = 0;  ///< By age, forced.
  std::uint64_t evicted = 0;     ///< By the rules or to a target.
  std::uint64_t evicted_bytes = 0;
};

/// What an origin counts, as of a moment ago: for metrics. Counts are since the start.
struct OriginFigures {
  std::size_t uploads_open = 0;
  std::size_t uploads_max = 0;
  std::uint64_t reserved_bytes = 0;  ///< Promised to uploads and not written yet.
  std::size_t verifications_waiting = 0;
  std::uint64_t quarantined = 0;
  std::size_t blobs_being_read = 0;  ///< Different ones, by downloads that go on.
  WorkerPoolStats disk_pool;
  CommitterStats committer;
  RemovalStats removal;
  ScrubFigures scrub;
  IndexProgress indexer;
  MetaInfoCacheUse metainfo_cache;
  std::uint64_t metainfo_cache_bytes_max = 0;
  std::uint64_t refused_for_space = 0;
  std::uint64_t refused_for_uploads_max = 0;
  /// By kind: how often it was asked for where it cannot be. Each is a bug.
  std::array<std::uint64_t, kMetadataKinds> invariant_violations = {};
};

/// What only the disk knows.
struct StorageFigures {
  struct FileSystem {
    std::string name;             ///< "cache", "database", "volume-1" …: a setting's, not a path.
    std::optional<SpaceUse> use;  ///< Nothing if it does not answer.
    std::uint64_t floor_bytes = 0;  ///< Below so much free, uploads are refused.
  };
  std::vector<FileSystem> file_systems;
  std::optional<std::uint64_t> blobs;  ///< Recorded; nothing if the database does not answer.
  std::uint64_t blob_bytes = 0;        ///< That they take on the disk.
  bool metadata_writable = false;
};

}  // namespace orlop
