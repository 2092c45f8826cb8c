#pragma once

#include <array>
#include <atomic>
#include <bitset>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "base/asio.h"
#include "base/disk.h"
#include "base/tally.h"
#include "core/digest.h"
#include "core/metainfo.h"
#include "store/commit_journal.h"
#include "store/layout.h"
#include "store/upload.h"

namespace orlop {

/// What "acknowledged" means (`store.durability`).
enum class Durability : std::uint8_t {
  always,  ///< Survives a power cut; each commit is synced by itself.
  group,   ///< Survives a power cut; commits that wait together are synced together.
  never,   ///< Survives kill -9, since all bytes are with the kernel; a power cut may take it.
};

/// How a group is synced (`store.group_sync`).
enum class GroupSync : std::uint8_t {
  syncfs,  ///< One syncfs(2) for all. For a file system that is the store's own.
  fsync,   ///< Each file and directory by itself. For one that others write to heavily.
};

struct CommitterOptions {
  Durability durability = Durability::group;
  GroupSync group_sync = GroupSync::syncfs;
  std::size_t group_max = 256;
  std::size_t queue_max = 4096;
  /// On which of the layout's file systems the journal is, so that syncfs of that one covers it.
  /// None: on another.
  std::optional<std::size_t> journal_filesystem = 0;
};

/// One finished upload that is to become a blob.
struct CommitRequest {
  std::shared_ptr<Upload> upload;
  const MetaInfo* metainfo = nullptr;  ///< Names the digest; outlives the commit.
  CommitNote note;
};

/// How a commit ended when it did not succeed.
enum class CommitFailure : std::uint8_t {
  upload_kept,  ///< The upload has its old name again: the client may commit once more.
  upload_lost,  ///< A sync failed, so the bytes are in doubt: discard the upload.
};

struct CommitError {
  CommitFailure failure;
  Error error;
};

/// Empty: committed and as durable as configured.
using CommitOutcome = std::optional<CommitError>;

/// How many commits share a group: powers of two up to CommitterOptions::group_max.
inline constexpr std::array<std::uint64_t, 9> kGroupBounds = {1, 2, 4, 8, 16, 32, 64, 128, 256};

/// What a committer does, as of a moment ago. Counts are since the start, times in nanoseconds.
struct CommitterStats {
  std::size_t waiting = 0;
  std::size_t waiting_max = 0;                ///< Then commits are refused.
  std::chrono::nanoseconds oldest_waits{0};   ///< For so long; 0 if none waits.
  std::chrono::nanoseconds group_running{0};  ///< For so long; 0 if there is none.
  std::uint64_t refused = 0;
  std::uint64_t failed = 0;  ///< Commits that were taken and did not succeed.
  Distribution group_size;
  Distribution group_took;
  Distribution synced;  ///< All syncs of a group together. None with Durability::never.
  Distribution waited;  ///< Of each commit, until its group began.
};

/// Turns uploads into blobs, a group at a time (design, section 4.6).
///
/// One thread takes all that waits, renames each file to its name, records the group in the
/// journal, makes everything durable by one sync of each file system that got blobs, and only then
/// answers all of them. One that cannot be synced fails its own blobs only. Whoever submits holds
/// the claim on the digest until the answer, so nobody reads in between.
///
/// After a crash in the middle any part of a group may be there: a file without a record is
/// hashed before it is believed, a record without a file is dropped, and a record whose file may
/// have lost its bytes is suspect (docs/decisions/0002-suspects-of-the-last-group.md).
class Committer {
 public:
  /// `roots` has a directory on each of the layout's file systems, kept open so that syncfs reports
  /// the errors since. What it is constructed with outlives it.
  Committer(Disk& disk, const Layout& layout, CommitJournal& journal, std::vector<UniqueFd> roots,
            CommitterOptions options);
  /// Answers what waits, then stops.
  ~Committer();

  /// `done` is called once, on the committer's thread, and must not block. `busy` at once if the
  /// queue is full. Safe from any thread.
  void submit(CommitRequest request, std::function<void(CommitOutcome)> done);

  /// Commits one group now, on the calling thread: what the thread does, and what tests crash.
  /// All digests of a group differ. Not from two threads at once.
  std::vector<CommitOutcome> commit_group(std::span<const CommitRequest> group);

  std::size_t queued() const;
  /// Safe from any thread; waits for no disk.
  CommitterStats stats() const;

 private:
  using SteadyClock = std::chrono::steady_clock;

  struct Waiting {
    CommitRequest request;
    std::function<void(CommitOutcome)> done;
    SteadyClock::time_point since;
  };

  void run();
  std::vector<Waiting> take_group();
  Result<> publish(const CommitRequest& request);
  Result<> make_folder(Digest digest);
  void take_back(const CommitRequest& request);
  std::vector<Result<>> sync_group(std::span<const CommitRequest> group);
  std::vector<Result<>> sync_filesystems(std::span<const CommitRequest> group);
  std::vector<Result<>> sync_directories(std::span<const CommitRequest> group);
  std::vector<Result<>> side_by_side(std::span<const std::function<Result<>()>> calls);
  bool syncs_each_file() const {
    return options_.group_sync == GroupSync::fsync && options_.durability != Durability::never;
  }

  Disk& disk_;
  const Layout& layout_;
  CommitJournal& journal_;
  const std::vector<UniqueFd> roots_;  // By the number of the file system.
  const CommitterOptions options_;

  // The inner shards whose names this process has synced. The others may be left from a group
  // whose sync failed.
  std::bitset<65536> shard_synced_;

  // Counted by the thread that commits.
  Histogram<Tally, kGroupBounds> group_size_;
  DurationHistogram group_took_;
  DurationHistogram synced_;
  DurationHistogram waited_;
  Tally failed_;
  /// When the present group began, in nanoseconds of the steady clock; 0: there is none.
  std::atomic<std::int64_t> group_began_ns_ = 0;

  asio::thread_pool sync_pool_;  // For GroupSync::fsync: many small syncs share a journal commit.

  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<Waiting> queue_;
  std::uint64_t refused_ = 0;
  bool stopping_ = false;
  std::thread thread_;  // Last: it uses all of the above.
};

}  // namespace orlop
