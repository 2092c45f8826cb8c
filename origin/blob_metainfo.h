#pragma once

#include <cstdint>

#include "base/disk.h"
#include "base/worker_pool.h"
#include "core/metainfo.h"
#include "core/piece.h"
#include "metadata/catalogue.h"
#include "origin/blob_lookup.h"
#include "store/blob_files.h"

namespace orlop {

/// The metainfo of blobs that are here. What it is constructed with outlives it. Safe from any
/// reactor.
class BlobMetaInfo {
 public:
  BlobMetaInfo(BlobLookup& lookup, Catalogue& catalogue, BlobFiles& files, Disk& disk,
               const PieceLengths& piece_lengths, WorkerPool& pool)
      : lookup_(lookup),
        catalogue_(catalogue),
        files_(files),
        disk_(disk),
        piece_lengths_(piece_lengths),
        pool_(pool) {}

  /// `not_found` if the blob is not here. Made again from the bytes if the record was lost. A blob
  /// whose file changed since it was hashed is hashed first: it is probably not what the metainfo
  /// says. One that was never hashed here, adopted by its sidecar, is not.
  Task<Result<MetaInfoPtr>> get(Digest digest);

  /// Cuts the blob at another piece length from now on (Kraken's benchmark endpoint). Peers that
  /// have the old metainfo stay in another torrent.
  Task<Result<>> overwrite(Digest digest, std::uint64_t piece_length);

 private:
  Result<MetaInfo> cut(Digest digest, std::uint64_t size_bytes, std::uint64_t piece_length);

  BlobLookup& lookup_;
  Catalogue& catalogue_;
  BlobFiles& files_;
  Disk& disk_;
  const PieceLengths& piece_lengths_;
  WorkerPool& pool_;
};

}  // namespace orlop
