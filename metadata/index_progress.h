#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orlop {

/// How far the background indexer is with the folder of blobs (origin/indexer.h). A record like
/// those of metadata/records.h; its bytes are in docs/formats.md, "Progress of the indexer".
struct IndexProgress {
  static constexpr std::uint32_t kShards = 256 * 256;

  /// Which folder this is about. Another one, or another text for it, is indexed from the start.
  std::string folder;
  std::uint32_t shards_done = 0;  ///< Of `kShards`, in the order of their names. All: it is over.

  // What was found in these shards.
  std::uint64_t recorded = 0;     ///< Blobs that are known now by their `_torrentmeta`, unread.
  std::uint64_t hashed = 0;       ///< Blobs that are known now because their bytes were hashed.
  std::uint64_t known = 0;        ///< Blobs that had a record already.
  std::uint64_t quarantined = 0;  ///< Files that are not what their name says.
  std::uint64_t ghosts = 0;       ///< Folders of blobs without any bytes in them.
  std::uint64_t foreign = 0;      ///< Entries that are neither.
  std::uint64_t unreadable = 0;   ///< Left to their first reader, because of an error.

  bool over() const { return shards_done >= kShards; }

  friend bool operator==(const IndexProgress&, const IndexProgress&) = default;
};

std::string encode_index_progress(const IndexProgress& progress);
/// `corrupt` as for records, and if there are more shards than exist.
Result<IndexProgress> decode_index_progress(std::string_view bytes);

}  // namespace orlop
