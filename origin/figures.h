#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "store/free_space.h"

namespace orlop {

/// What an origin counts, as of a moment ago: for metrics. Counts are since the start.
struct OriginFigures {
  std::size_t uploads_open = 0;
  std::size_t uploads_max = 0;
  std::uint64_t reserved_bytes = 0;  ///< Promised to uploads and not written yet.
  std::size_t verifications_waiting = 0;
  std::uint64_t quarantined = 0;
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
