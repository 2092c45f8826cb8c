#pragma once

#include <filesystem>
#include <string>

#include "core/digest.h"
#include "core/upload_id.h"

namespace orlop {

/// Where things lie on the disk. Pure: names only. The layout of blobs is Kraken's, so that an
/// origin of either kind can take over the folder (docs/formats.md, "Blob files").
///
///   <cache_dir>/<aa>/<bb>/<hex>/data     the blob aabb…, and its sidecars beside it
///   <upload_dir>/<upload id>             an upload in progress
///   <upload_dir>/<upload id>.session     what the upload is for; lets it survive a restart
struct Layout {
  std::filesystem::path upload_dir;
  std::filesystem::path cache_dir;

  std::filesystem::path upload(const UploadId& id) const { return upload_dir / id.text(); }
  std::filesystem::path session(const UploadId& id) const {
    return upload_dir / (std::string(id.text()) + std::string(kSessionSuffix));
  }

  /// The two levels of shards, and the blob's own folder below them.
  std::filesystem::path outer_shard(Digest digest) const {
    return cache_dir / digest.hex().substr(0, 2);
  }
  std::filesystem::path inner_shard(Digest digest) const {
    return outer_shard(digest) / digest.hex().substr(2, 2);
  }
  std::filesystem::path blob_folder(Digest digest) const {
    return inner_shard(digest) / digest.hex();
  }
  std::filesystem::path blob(Digest digest) const { return blob_folder(digest) / "data"; }

  static constexpr std::string_view kSessionSuffix = ".session";
};

}  // namespace orlop
