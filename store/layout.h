#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/digest.h"
#include "core/upload_id.h"

namespace orlop {

/// An outer shard that lies on a volume: `<cache_dir>/<aa>` is a link that Kraken made.
struct LinkedShard {
  std::filesystem::path folder;  ///< What the link leads to, itself without links.
  std::size_t filesystem = 0;    ///< On which of Layout's file systems it is.
};

/// Where things lie on the disk. Pure: names only. The layout of blobs is Kraken's, so that an
/// origin of either kind can take over the folder (docs/formats.md, "Blob files").
///
///   <cache_dir>/<aa>/<bb>/<hex>/data     the blob aabb…, and its sidecars beside it
///   <upload_dir>/<upload id>             an upload in progress
///   <upload_dir>/<upload id>.session     what the upload is for; lets it survive a restart
///
/// A shard may lie on a volume instead (store/volumes.h), which may be another file system. Each
/// file system has an upload folder of its own, so that a commit is always a rename.
struct Layout {
  std::filesystem::path upload_dir;
  std::filesystem::path cache_dir;
  std::map<std::uint8_t, LinkedShard> linked_shards = {};      ///< By the first byte of the digest.
  std::vector<std::filesystem::path> volume_upload_dirs = {};  ///< Of file systems 1, 2, ….

  /// Number 0 is that of `cache_dir` and `upload_dir`.
  std::size_t filesystem_count() const { return 1 + volume_upload_dirs.size(); }
  std::size_t filesystem(Digest digest) const {
    const auto linked = linked_shards.find(digest.bytes()[0]);
    return linked == linked_shards.end() ? 0 : linked->second.filesystem;
  }
  const std::filesystem::path& upload_dir_of(std::size_t filesystem) const {
    return filesystem == 0 ? upload_dir : volume_upload_dirs.at(filesystem - 1);
  }

  /// An upload lies where its blob will be.
  std::filesystem::path upload(const UploadId& id, Digest digest) const {
    return upload_dir_of(filesystem(digest)) / id.text();
  }
  static std::filesystem::path session(const std::filesystem::path& upload) {
    return upload.string() + std::string(kSessionSuffix);
  }

  /// The two levels of shards, and the blob's own folder below them.
  std::filesystem::path outer_shard(Digest digest) const {
    const auto linked = linked_shards.find(digest.bytes()[0]);
    if (linked != linked_shards.end()) return linked->second.folder;
    return cache_dir / digest.hex().substr(0, 2);
  }
  std::filesystem::path inner_shard(Digest digest) const {
    return outer_shard(digest) / digest.hex().substr(2, 2);
  }
  std::filesystem::path blob_folder(Digest digest) const {
    return inner_shard(digest) / digest.hex();
  }
  std::filesystem::path blob(Digest digest) const { return blob_folder(digest) / "data"; }

  /// The folders that hold outer shards: `cache_dir`, and one in each volume that has any.
  std::set<std::filesystem::path> shard_roots() const {
    std::set<std::filesystem::path> roots = {cache_dir};
    for (const auto& [byte, shard] : linked_shards) roots.insert(shard.folder.parent_path());
    return roots;
  }

  static constexpr std::string_view kSessionSuffix = ".session";
};

}  // namespace orlop
