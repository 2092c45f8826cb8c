#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/worker_pool.h"
#include "core/digest.h"
#include "metadata/catalogue.h"

namespace orlop {

/// Says what is here, page by page in the order of digests, for those who copy or compare stores.
///
/// From the records alone: no file is looked at, so a page costs the same however large the blobs
/// are. Hence three differences to what BlobLookup says. A file that has no record yet is missing.
/// A record whose file is gone is listed until somebody asks for the blob. And a blob whose commit
/// is not durable yet may be listed; reading it waits for the outcome. Blobs that come or go while
/// somebody reads page after page may be on them or not; all others are there, once.
///
/// What it is constructed with outlives it. Safe from any reactor.
class BlobListing {
 public:
  static constexpr std::size_t kPageBlobsMax = 1000;

  struct Entry {
    Digest digest;
    std::uint64_t size_bytes;
    std::int64_t committed_at;  ///< Unix seconds.
  };

  struct Page {
    std::vector<Entry> blobs;
    std::optional<Digest> next;  ///< The page after this one begins after it; empty: there is none.
  };

  BlobListing(const Catalogue& catalogue, WorkerPool& pool) : catalogue_(catalogue), pool_(pool) {}

  /// The blobs that come after `after`. Pre: `limit` is 1 to `kPageBlobsMax`.
  Task<Result<Page>> page(std::optional<Digest> after, std::size_t limit);

 private:
  const Catalogue& catalogue_;
  WorkerPool& pool_;
};

}  // namespace orlop
