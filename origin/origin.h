#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/stop_signal.h"
#include "base/worker_pool.h"
#include "core/piece.h"
#include "metadata/catalogue.h"
#include "metadata/last_access.h"
#include "metadata/metainfo_cache.h"
#include "origin/age_clock.h"
#include "origin/blob_listing.h"
#include "origin/blob_lookup.h"
#include "origin/blob_metadata.h"
#include "origin/blob_metainfo.h"
#include "origin/blob_settlement.h"
#include "origin/catalogue_journal.h"
#include "origin/eviction.h"
#include "origin/figures.h"
#include "origin/folder_locks.h"
#include "origin/indexer.h"
#include "origin/node_identity.h"
#include "origin/removal.h"
#include "origin/scrub.h"
#include "origin/uploads.h"
#include "store/blob_files.h"
#include "store/committer.h"
#include "store/digest_claims.h"
#include "store/free_space.h"
#include "store/layout.h"
#include "store/memory_store.h"
#include "store/open_blobs.h"
#include "store/store_space.h"
#include "store/upload_table.h"

namespace orlop {

struct OriginOptions {
  Layout layout;  ///< The two folders; shards on volumes are found by `open`.
  std::vector<std::filesystem::path> volumes;  ///< castore.volumes: their locations.
  std::filesystem::path database_dir;
  Durability durability = Durability::group;
  GroupSync group_sync = GroupSync::syncfs;
  std::optional<std::uint64_t> free_bytes_min;
  std::uint64_t upload_bytes_max = std::uint64_t{1} << 40;
  UploadTableOptions uploads;
  MetaInfoCacheOptions metainfo_cache;
  std::uint64_t memory_store_bytes_max = 0;  ///< For blobs on their way to the disk.
  RemovalOptions removal;
  EvictionOptions eviction;
  ScrubOptions scrub;
  IndexerOptions indexer;
  std::size_t disk_threads = 16;
  std::size_t disk_queue_max = 4096;
};

/// One node's blobs: the store and the metadata put together, and the use cases on top.
///
/// The parts are reached through accessors; each one's header says what it promises. All are safe
/// from any reactor. Reactors must outlive the origin's pool, and the origin all requests.
class Origin {
 public:
  /// Makes the folders, locks them, opens the catalogue, takes up former uploads. Nothing is
  /// walked: an origin with any number of blobs starts in the same time. Blocks.
  static Result<std::unique_ptr<Origin>> open(OriginOptions options, PieceLengths piece_lengths,
                                              NodeIdentity node, Disk& disk, const Clock& clock,
                                              Random& random);

  Origin(const Origin&) = delete;
  Origin& operator=(const Origin&) = delete;
  /// Waits for the work in the pool and the committer, and closes the catalogue cleanly. No
  /// request may be running.
  ~Origin();

  const NodeIdentity& node() const { return node_; }
  BlobLookup& lookup() { return lookup_; }
  BlobSettlement& settlement() { return settlement_; }
  BlobListing& listing() { return listing_; }
  BlobMetaInfo& metainfo() { return metainfo_; }
  BlobMetadata& metadata() { return metadata_; }
  /// For reactors: each is a reader of it.
  MetaInfoCache& metainfo_cache() { return *metainfo_cache_; }
  Uploads& uploads() { return uploads_; }
  Removal& removal() { return removal_; }
  Eviction& eviction() { return eviction_; }
  WorkerPool& pool() { return pool_; }

  /// Somebody read the blob.
  void touch(Digest digest) { last_access_.touch(digest); }

  /// A line a fact about what this node is doing, for people.
  std::vector<std::string> status() const;

  /// The same as numbers, for metrics. Blocks on no disk.
  OriginFigures figures() const;
  /// What has to be asked of the disk. Blocks.
  StorageFigures storage_figures() const;

  /// Why this node should not be sent requests; empty if it should.
  std::vector<std::string> not_ready() const;

 private:
  Origin(OriginOptions options, PieceLengths piece_lengths, NodeIdentity node, Disk& disk,
         const Clock& clock, Random& random, FolderLocks locks, std::vector<UniqueFd> roots,
         std::unique_ptr<AgeClock> ages, std::unique_ptr<MetaInfoCache> metainfo_cache,
         std::unique_ptr<Catalogue> catalogue, CommitterOptions committer_options);

  void maintain();
  void evict();
  void save_ages();

  const OriginOptions options_;
  const PieceLengths piece_lengths_;
  const NodeIdentity node_;
  const FolderLocks locks_;

  // In the order of who uses whom: destruction goes the other way round.
  std::unique_ptr<AgeClock> ages_;  // On the heap because the catalogue is opened with it.
  std::unique_ptr<MetaInfoCache> metainfo_cache_;  // For the same reason.
  std::unique_ptr<Catalogue> catalogue_;
  LastAccess last_access_;
  CatalogueJournal journal_;
  DigestClaims claims_;
  OpenBlobs open_blobs_;
  BlobFiles files_;
  MemoryStore memory_store_;
  StoreSpace space_;
  UploadTable upload_table_;
  Committer committer_;
  BlobSettlement settlement_;  // Before the pool, where some of its work ends.
  WorkerPool pool_;
  BlobLookup lookup_;
  BlobListing listing_;
  BlobMetaInfo metainfo_;
  BlobMetadata metadata_;
  Uploads uploads_;
  Removal removal_;
  Eviction eviction_;
  StopSignal stop_;  ///< Of all three threads below.
  Scrub scrub_;
  Indexer indexer_;

  std::thread maintenance_;  // Last, all three: they use all of the above.
  std::thread eviction_thread_;
  std::thread scrubbing_;
};

}  // namespace orlop
