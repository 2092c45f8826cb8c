#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/asio.h"
#include "base/result.h"
#include "core/digest.h"
#include "metadata/catalogue.h"
#include "metadata/metadata_kind.h"
#include "origin/blob_metainfo.h"
#include "store/memory_store.h"

namespace orlop {

/// The facts about one blob, by their kind, wherever the blob is: the one way to ask for them that
/// keeps the invariant (design, section 7). Only what never changes may be read from memory.
///
/// | the blob is | torrent_meta | persist, last_access |
/// |---|---|---|
/// | in memory only | the one object | `invariant_violation`: these do not exist before the disk |
/// | on the disk, or both | the same object | the record |
/// | absent | `not_found` | `not_found` |
///
/// A violation is a bug of whoever asks: it is logged at error level and counted, and a client gets
/// 500. Who walks over blobs asks `is_memory_only` first, and skips; who walks over the catalogue's
/// records need not, because what has a record is on the disk.
///
/// What it is constructed with outlives it. Safe from any thread.
class BlobMetadata {
 public:
  BlobMetadata(BlobMetaInfo& metainfo, Catalogue& catalogue, const MemoryStore& memory)
      : metainfo_(metainfo), catalogue_(catalogue), memory_(memory) {}

  /// As BlobMetaInfo::get. On a reactor.
  Task<Result<MetaInfoPtr>> torrent_meta(Digest digest) { return metainfo_.get(digest); }

  // These three block on the disk.

  /// Whether the blob has to stay: it is pinned, or something is still to be done for it.
  Result<bool> persist(Digest digest);
  /// The hour in which the blob was last used, since 1970, as far as it is written down.
  Result<std::uint32_t> last_access(Digest digest);
  /// The blob is here, and the disk does not have it yet.
  Result<bool> is_memory_only(Digest digest) const;

  /// How often the kind was asked for where it cannot be, since the start.
  std::uint64_t violations(MetadataKind kind) const {
    return violations_[static_cast<std::size_t>(kind)].load(std::memory_order_relaxed);
  }

 private:
  Error absent(Digest digest, MetadataKind kind);

  BlobMetaInfo& metainfo_;
  Catalogue& catalogue_;
  const MemoryStore& memory_;
  std::array<std::atomic<std::uint64_t>, kMetadataKinds> violations_ = {};
};

}  // namespace orlop
