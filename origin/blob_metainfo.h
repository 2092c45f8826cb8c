#pragma once

#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "base/disk.h"
#include "base/worker_pool.h"
#include "core/metainfo.h"
#include "core/piece.h"
#include "metadata/catalogue.h"
#include "metadata/metainfo_cache.h"
#include "origin/blob_lookup.h"
#include "store/blob_files.h"
#include "store/memory_store.h"

namespace orlop {

/// The metainfo of blobs that are here, from memory where it can be: the cache is filled by the
/// commit and by the first read. What it is constructed with outlives it. Safe from any reactor.
class BlobMetaInfo {
 public:
  /// A blob that was changed through this process is never answered for by what memory says. One
  /// whose file somebody removed or changed by hand is, for this long.
  static constexpr std::chrono::milliseconds kTrustedFor{1000};

  BlobMetaInfo(BlobLookup& lookup, Catalogue& catalogue, MetaInfoCache& cache,
               const MemoryStore& memory, BlobFiles& files, Disk& disk,
               const PieceLengths& piece_lengths, WorkerPool& pool, const Clock& clock)
      : lookup_(lookup),
        catalogue_(catalogue),
        cache_(cache),
        memory_(memory),
        files_(files),
        disk_(disk),
        piece_lengths_(piece_lengths),
        pool_(pool),
        clock_(clock) {}

  /// `not_found` if the blob is not here. Made again from the bytes if the record was lost. A blob
  /// whose file changed since it was hashed is hashed first: it is probably not what the metainfo
  /// says. One that was never hashed here, adopted by its sidecar, is not.
  ///
  /// All who ask get one object, the same on every reactor, for as long as it stays cached.
  Task<Result<MetaInfoPtr>> get(Digest digest);

  /// Keeps the metainfo of a blob that was recorded just now. The caller holds the digest's claim
  /// since before it was recorded. Does not block on the disk.
  void remember(MetaInfo metainfo);

  /// Cuts the blob at another piece length from now on (Kraken's benchmark endpoint). Peers that
  /// have the old metainfo stay in another torrent.
  Task<Result<>> overwrite(Digest digest, std::uint64_t piece_length);

 private:
  Task<Result<MetaInfoPtr>> look_up(Digest digest, MetaInfoPtr cached);
  Result<SharedMetaInfo> recorded(Digest digest, std::uint64_t size_bytes, std::uint64_t version);
  Result<MetaInfo> cut(Digest digest, std::uint64_t size_bytes, std::uint64_t piece_length);
  MetaInfoPtr held(Digest digest, SharedMetaInfo object);
  bool is_trusted(const MetaInfoPtr& cached) const;
  std::uint32_t now() const;

  BlobLookup& lookup_;
  Catalogue& catalogue_;
  MetaInfoCache& cache_;
  const MemoryStore& memory_;
  BlobFiles& files_;
  Disk& disk_;
  const PieceLengths& piece_lengths_;
  WorkerPool& pool_;
  const Clock& clock_;
};

}  // namespace orlop
