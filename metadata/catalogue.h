#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "core/digest.h"
#include "core/metainfo.h"
#include "metadata/index_progress.h"
#include "metadata/records.h"

namespace rocksdb {
class Env;
}

namespace orlop {

class Database;
class MetaInfoCache;

struct CatalogueOptions {
  std::filesystem::path path;  ///< The database's own folder; made if it is not there.
  const Clock* clock = nullptr;
  rocksdb::Env* env = nullptr;                   ///< Tests put faults here; null is the system's.
  std::chrono::milliseconds reopen_every{1000};  ///< After a failed write, until one succeeds.
  /// Forgets a digest before a call returns that may have changed what is recorded of it, also when
  /// the call fails. Filled by others. May be null.
  MetaInfoCache* metainfo_cache = nullptr;
};

/// One blob of a group that is committed.
struct CommitEntry {
  BlobRecord blob;
  const MetaInfo* metainfo = nullptr;  ///< Of this digest; outlives the call. Null: no change.
  std::optional<TaskRecord> task;      ///< Of this digest; recorded or not together with the blob.
  Digest digest;
  /// When it was last used, if not now. A time ahead of the clock counts as now.
  std::optional<std::uint32_t> used_hour = std::nullopt;
};

/// When a blob was last used.
struct Access {
  std::uint32_t hour = 0;  ///< Hours since 1970.
  Digest digest;

  friend bool operator==(const Access&, const Access&) = default;
};

/// A digest that has a record, and what can be read of it.
struct SurveyedBlob {
  Digest digest;
  Result<BlobRecord> record;  ///< Or why it cannot be read.
};

/// The space that all recorded blobs take.
struct Usage {
  std::uint64_t blobs = 0;
  std::uint64_t blocks = 0;  ///< Of 512 bytes.

  friend bool operator==(const Usage&, const Usage&) = default;
};

/// The facts about the blobs of this machine: that they are here, how they are cut, what has still
/// to be done for them, when they were last used, and how much space they take together.
///
/// What it promises:
///  - All or nothing. A call's changes are one batch: after a death at any moment all of them are
///    there or none. After an error they may be there or not; the call may be repeated.
///  - With the kernel at return. A change outlives the process at once. It outlives a power cut
///    when the call says "synced", or after the next `sync()`, or after a syncfs(2) of the file
///    system that holds `path`.
///  - No surprise on a full disk. After a failed write every call that writes answers `busy` and
///    says why, `fault()` says it too, and the database is reopened behind the callers' backs until
///    it can be written again. Reads go on meanwhile, but for the moments when the database is
///    closed: then they answer `busy`.
///
/// Calls block on the disk. All methods may be called from any thread at once. Calls that read a
/// record to change it (commit, remove, put_metainfo, the two of the fingerprint, record_accesses)
/// take turns on one mutex, so they need no claim of the digest to be right among themselves;
/// RocksDB makes writers take turns anyway. Reads never wait for it, and nobody waits for a sync
/// under it.
///
/// `clock`, `metainfo_cache` and `env` outlive it. The bytes on disk: docs/formats.md, "Metadata".
class Catalogue {
 public:
  /// Opens or makes the database. `corrupt`, with what to do, if it is damaged. Blobs of each
  /// committer's last group lose their fingerprint if the process before did not end with
  /// `close_cleanly` (docs/decisions/0002-suspects-of-the-last-group.md).
  static Result<std::unique_ptr<Catalogue>> open(CatalogueOptions options);

  /// Opens a database that must be there, without changing a byte of it, for whoever looks at the
  /// folder of a process that does not run: takes no lock, and every call that writes is `busy`.
  static Result<std::unique_ptr<Catalogue>> open_read_only(CatalogueOptions options);

  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;
  /// Closes the database. No other call may be running.
  ~Catalogue();

  /// Says that nothing is suspect: every group that was committed in this process has been made
  /// durable by its caller. The last call before the destructor. Synced.
  Result<> close_cleanly();

  /// Success if calls that write are tried, else `busy` and why not.
  Result<> writable() const;
  /// Why nothing can be written now; nothing if it can. For readiness.
  std::optional<std::string> fault() const;

  /// `not_found` if there is no record.
  Result<BlobRecord> blob(Digest digest) const;
  /// `not_found` if there is none.
  Result<MetaInfo> metainfo(Digest digest) const;

  /// Records a group of blobs, each used at its `used_hour`, in one batch, unsynced: the caller
  /// makes it durable together with the blobs' files. Replaces what was recorded of a digest that
  /// is here already. No digest twice in one call. Groups of one `committer` (one a file system of
  /// blobs) follow each other: the next call comes after the group before is durable.
  Result<> commit(std::span<const CommitEntry> group, std::uint32_t committer = 0);

  /// Makes all changes so far durable.
  Result<> sync();

  /// Records how a blob is cut, in place of what was recorded. Synced. `not_found` if the blob has
  /// no record.
  Result<> put_metainfo(const MetaInfo& metainfo);

  /// Says that the file was hashed when it had this fingerprint. `not_found` without a record.
  Result<> renew_fingerprint(Digest digest, const Fingerprint& fingerprint);
  /// Makes the next reader hash the bytes. Succeeds if there is no fingerprint afterwards, whether
  /// or not there is a record.
  Result<> drop_fingerprint(Digest digest);

  /// The file is not as it is recorded: nothing about the digest is answered from memory until
  /// somebody has looked again. Does not block.
  void distrust(Digest digest) const;

  /// Forgets the blob and all its tasks. Succeeds if it is forgotten afterwards, whether or not it
  /// was known. Unsynced: the caller removed the file first, durably, and a record without a file
  /// is dropped when it is next looked up.
  Result<> remove(Digest digest);

  /// Records the task, in place of the one with the same kind, digest and namespace. Synced.
  Result<> add_task(const TaskRecord& task);
  Result<bool> has_task(TaskKind kind, Digest digest, std::string_view name_space) const;
  /// The blob's tasks, by kind and then by namespace.
  Result<std::vector<TaskRecord>> tasks(Digest digest) const;

  /// How many there are of all blobs. Reads all their keys.
  Result<std::uint64_t> count_tasks(TaskKind kind) const;

  Result<Usage> usage() const;

  /// The blobs that come after `after` in the order of their digests, `limit` at most.
  Result<std::vector<std::pair<Digest, BlobRecord>>> list(std::optional<Digest> after,
                                                          std::size_t limit) const;

  /// The same for those who must get past a record that cannot be read.
  Result<std::vector<SurveyedBlob>> survey(std::optional<Digest> after, std::size_t limit) const;

  /// How far the scrub is; nothing if there has been none. `corrupt` if that cannot be read.
  Result<std::optional<ScrubRecord>> scrub() const;
  /// Unsynced: what a power cut takes back is read once more.
  Result<> put_scrub(const ScrubRecord& record);

  /// Blobs in the order of their last use, the longest unused first, from `from_hour` on, `limit`
  /// at most. `after`: only what comes after this digest in `from_hour`. To go on, pass the last
  /// entry's hour and digest.
  Result<std::vector<Access>> oldest_accesses(std::uint32_t from_hour, std::optional<Digest> after,
                                              std::size_t limit) const;

  /// When each blob came here, by their digests; as `list` otherwise.
  Result<std::vector<Access>> first_uses(std::optional<Digest> after, std::size_t limit) const;

  /// The hour in which the blob was last used, as far as it is recorded. `not_found` without a
  /// record of the blob.
  Result<std::uint32_t> last_use(Digest digest) const;

  /// Moves blobs to a later hour, unsynced. Drops accesses of digests without a record, and those
  /// not later than what is recorded, unless what is recorded lies ahead of the clock (it was set
  /// back). LastAccess calls this.
  Result<> record_accesses(std::span<const Access> accesses);

  /// How far the background indexer came. `not_found` if it never began.
  Result<IndexProgress> index_progress() const;
  /// In place of what was kept. Unsynced, but never durable before the records written until now.
  Result<> put_index_progress(const IndexProgress& progress);

  /// Hours since 1970, by the clock.
  std::uint32_t current_hour() const;

  /// What `put_age` was last told: where the clock of these hours was, in seconds since 1970.
  Result<std::optional<std::uint32_t>> age() const;
  /// Unsynced.
  Result<> put_age(std::uint32_t seconds);

 private:
  Catalogue(CatalogueOptions options, std::unique_ptr<Database> database);

  Result<> drop_suspects();
  Result<> set_fingerprint(Digest digest, const std::optional<Fingerprint>& fingerprint);
  class Forgetting;

  CatalogueOptions options_;
  std::unique_ptr<Database> database_;

  std::mutex change_mutex_;  // Held from a record's read to the write that follows.
  /// Under change_mutex_, for each committer of this process: the blobs of its failed groups since
  /// the last that succeeded, as in last_group. They may be recorded, and their files not durable.
  std::map<std::uint32_t, std::string> unsettled_;
};

}  // namespace orlop
