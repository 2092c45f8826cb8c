#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "base/disk.h"
#include "metadata/catalogue.h"
#include "metadata/index_progress.h"
#include "origin/blob_settlement.h"
#include "origin/pacer.h"
#include "store/layout.h"

namespace orlop {

struct IndexerOptions {
  double cpu_share = 0.05;  ///< Of one core, above 0.
};

/// Walks the folder of blobs once, behind the requests, and records the blobs in it that nobody has
/// recorded: those of a Kraken origin, and all of them after the database was lost. Requests do not
/// wait for it: a blob that it has not come to is adopted by whoever asks first (BlobLookup). What
/// it is good for: only recorded blobs are listed, counted and cleaned up.
///
/// A blob with a whole `_torrentmeta` is recorded without being read; others are hashed, as their
/// first reader would do it. It works at `cpu_share` of a core, at the lowest priority for the
/// disk.
///
/// The database keeps how far it is (IndexProgress), so a restart goes on, and a folder is walked
/// once: again only if another folder is configured, or this one was replaced
/// (docs/decisions/0008-background-indexer.md). What is no blob stays where it is; it is counted,
/// and the first `kEntriesLoggedMax` are named in the log.
///
/// What it is constructed with outlives it.
class Indexer {
 public:
  static constexpr std::size_t kEntriesLoggedMax = 100;

  Indexer(Disk& disk, Catalogue& catalogue, BlobSettlement& settlement, const Layout& layout,
          IndexerOptions options)
      : disk_(disk),
        catalogue_(catalogue),
        settlement_(settlement),
        layout_(layout),
        pacer_(options.cpu_share) {}

  Indexer(const Indexer&) = delete;
  Indexer& operator=(const Indexer&) = delete;
  ~Indexer();

  /// Begins, or goes on, on a thread of its own. Once.
  void start();
  /// Ends it at once, also in the middle of a blob, and keeps how far it came.
  void stop();

  /// The same on this thread, until the walk is over or `stop` is called.
  void run();

  /// One line for people: "indexing: 4096 of 65536 shards, …". From any thread.
  std::string status() const;
  /// The same as numbers.
  IndexProgress progress() const;

 private:
  bool load();
  Result<> walk();
  Result<> index_root();
  Result<> index_outer(std::uint32_t outer);
  Result<> index_inner(std::uint32_t shard);
  Result<> index_blob(Digest digest);
  Result<> index_without_data(Digest digest);
  Result<> keep_progress();
  Result<> left_to_its_reader(const std::filesystem::path& path, const Error& error);
  void count(std::uint64_t IndexProgress::*counter);
  void note_foreign(const std::filesystem::path& path, std::string_view kind);
  void log_progress(std::string_view event) const;

  Disk& disk_;
  Catalogue& catalogue_;
  BlobSettlement& settlement_;
  const Layout& layout_;
  Pacer pacer_;

  mutable std::mutex mutex_;
  IndexProgress progress_;  // Changed by the thread that walks alone, under mutex_ for the others.
  std::array<bool, 256> outer_shards_ = {};
  std::size_t entries_logged_ = 0;
  IndexProgress at_shard_;  // As it was when the last shard was done: what is kept.
  std::uint64_t blobs_since_kept_ = 0;
  std::thread thread_;
};

}  // namespace orlop
