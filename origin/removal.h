#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/tally.h"
#include "base/worker_pool.h"
#include "metadata/catalogue.h"
#include "origin/blob_lookup.h"
#include "origin/figures.h"
#include "store/blob_files.h"
#include "store/digest_claims.h"
#include "store/open_blobs.h"

namespace orlop {

struct RemovalOptions {
  /// Whether clean-up may remove blobs of which no other copy is known
  /// (`castore.cache_cleanup.evict_unbacked`).
  bool evict_unbacked = false;
};

/// Removes blobs: one that an operator names, or many that are not needed any more.
///
/// Never removed: a blob with an open task, or a pinned one (somebody still has to be sent a copy).
/// Clean-up also spares blobs that somebody is reading, and those of which no other copy is known,
/// unless configured otherwise (design, section 6).
/// When a blob's removal is acknowledged, no power cut brings it back.
///
/// What it is constructed with outlives it. Safe from any reactor.
class Removal {
 public:
  struct CleanUp {
    std::vector<Digest> deleted;
    std::vector<std::string> errors;  ///< "<hex>: <text>", as Kraken lists them.
  };

  Removal(BlobLookup& lookup, BlobFiles& files, Catalogue& catalogue, DigestClaims& claims,
          const OpenBlobs& open_blobs, WorkerPool& pool, const Clock& clock, RemovalOptions options)
      : lookup_(lookup),
        files_(files),
        catalogue_(catalogue),
        claims_(claims),
        open_blobs_(open_blobs),
        pool_(pool),
        clock_(clock),
        options_(options) {}

  /// `not_found` if it is not here, `pinned` if it has an open task or is pinned itself.
  Task<Result<>> remove(Digest digest);

  /// Removes what may go and was last written more than `age` ago. A negative age means all.
  Task<Result<CleanUp>> remove_older_than(std::chrono::hours age);

  /// As far as its record says, clean-up may remove the blob.
  bool may_go(const BlobRecord& record) const {
    return !record.pinned && (record.backed || options_.evict_unbacked);
  }
  /// Removes a blob that nobody needs: one that may go, without an open task, that nobody reads,
  /// commits, verifies or removes at this moment. The bytes that became free; nothing if it stays.
  /// Blocks, and waits for nobody.
  Result<std::optional<std::uint64_t>> remove_unused(Digest digest);

  RemovalStats stats() const {
    return {.deleted = deleted_.value(),
            .cleaned_up = cleaned_up_.value(),
            .evicted = evicted_.value(),
            .evicted_bytes = evicted_bytes_.value()};
  }

 private:
  enum class Outcome : std::uint8_t { removed, absent };

  Result<Outcome> remove_claimed(Digest digest);
  Result<bool> is_owed(Digest digest) const;
  Result<bool> remove_if_older(Digest digest, Clock::Wall limit);
  Result<CleanUp> clean_up(Clock::Wall limit);
  std::optional<std::uint64_t> evicted(std::uint64_t freed_bytes);

  BlobLookup& lookup_;
  BlobFiles& files_;
  Catalogue& catalogue_;
  DigestClaims& claims_;
  const OpenBlobs& open_blobs_;
  WorkerPool& pool_;
  const Clock& clock_;
  const RemovalOptions options_;

  SharedTally deleted_;
  SharedTally cleaned_up_;
  SharedTally evicted_;
  SharedTally evicted_bytes_;
};

}  // namespace orlop
