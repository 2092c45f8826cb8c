#pragma once

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/result.h"
#include "store/layout.h"

namespace orlop {

/// What two paths must share for rename(2) between them: file system and mount. Two bind mounts of
/// one file system are two.
struct MountId {
  std::uint64_t device = 0;
  std::uint64_t mount = 0;  ///< 0 before Linux 5.8, which does not tell.

  friend bool operator==(const MountId&, const MountId&) = default;
};

Result<MountId> mount_of(const std::filesystem::path& path);

/// Finds the shards of `layout.cache_dir` that lie on one of the volumes at `locations`
/// (`castore.volumes`), as an older Kraken origin left them
/// (kraken-formats-and-store, 2.3):
///
///   <cache_dir>/<aa>  ->  <location>/<last name of cache_dir>/<AA>
///
/// and gives the layout with them. Volumes on a file system of their own get the upload folder
/// `<location>/<last name of cache_dir>.upload`, which is not made here. Links are resolved once,
/// now; nothing is made and nothing moved.
///
/// Fails with `invalid_argument`, naming the link and where it leads, if a shard is a link to
/// anything else, or to nothing: its blobs would look absent, and their records would be dropped.
/// Blocks.
Result<Layout> with_linked_shards(Layout layout, std::span<const std::filesystem::path> locations);

}  // namespace orlop
