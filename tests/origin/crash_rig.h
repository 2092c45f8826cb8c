#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/worker_pool.h"
#include "metadata/catalogue.h"
#include "origin/blob_lookup.h"
#include "origin/catalogue_journal.h"
#include "origin/removal.h"
#include "store/committer.h"
#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/metadata/faulty_file_system.h"
#include "tests/store/faulty_disk.h"

namespace orlop {

/// How a machine comes back.
struct Crash {
  /// Empty: the process was killed, the kernel kept everything.
  std::optional<Unsynced> power_cut;
  /// After a power cut: whether the database's unsynced bytes are lost too. A kernel writes back
  /// what it likes when it likes, so a record can survive the file that it vouches for.
  bool database_loses_unsynced = false;
};

/// Killed, and each kind of power cut.
const std::vector<Crash>& every_crash();

/// Of a blob that must reach a backend: nothing but the record knows.
CommitNote owed();

/// Blobs by their digest.
using Blobs = std::map<std::string, std::string>;

/// A machine with a disk under blobs and database that dies where the test says, and the store,
/// catalogue and look-up on it as Origin puts them together, without threads between them.
class CrashRig {
 public:
  /// On how many file systems the blobs are. With `two`, the first 16 shards lie on a volume that
  /// is the second; the database is on the first.
  enum class Disks : std::uint8_t { one, two };

  CrashRig(GroupSync group_sync, Durability durability, Disks disks = Disks::one);
  ~CrashRig();

  /// Starts the process (again).
  void boot();
  /// The process dies at the call that comes as number `call` from now on.
  void die_at(std::uint64_t call);
  bool dead() const { return disk_.dead(); }
  /// Ends the process, applies the crash, and starts another one.
  void come_back(const Crash& crash);
  /// Ends the process as SIGTERM does, and starts another one.
  void restart_cleanly();

  struct Pending {
    std::shared_ptr<Upload> upload;
    std::unique_ptr<MetaInfo> metainfo;
  };
  /// Uploads the bytes up to the commit. Empty if that failed.
  std::optional<Pending> upload(const std::string& bytes);
  /// Commits them as one group; the digests that were acknowledged.
  std::set<Digest> commit(std::vector<Pending> group, const CommitNote& note = {});
  /// Uploads all of them and commits, as one group, what was uploaded; as `commit`.
  std::set<Digest> put(const std::vector<std::string>& blobs, const CommitNote& note = {});
  /// Whether a write-back of the blob is recorded.
  bool owes_write_back(Digest digest);
  /// True if the removal was acknowledged.
  bool remove(Digest digest);
  /// True if clean-up removed it and says that its space is free.
  bool evict(Digest digest);

  /// The disk loses these bytes of a blob and keeps the others, durably and unnoticed: its
  /// fingerprint fits. Pre: not dead.
  void rot(Digest digest, const std::string& bytes);
  /// A pass of the scrub; true if it went to its end.
  bool scrub();
  /// What was set aside of a blob.
  std::vector<std::string> evidence(Digest digest) const;

  /// The bytes that a reader gets; nothing if the blob is absent. Checks that a blob that is here
  /// has its metainfo and hashes to its name.
  std::optional<std::string> read(Digest digest);
  bool is_here(Digest digest);
  Usage usage();

  /// A blob as a Kraken origin leaves it: in its place, with or without `_torrentmeta`, and durable
  /// by nobody's doing.
  void leave_unsynced(const std::string& bytes, bool sidecar);
  /// Changes a byte of the blob's file, durably.
  void damage(Digest digest);
  /// Whether somebody is told that the blob can be read, unverified if its metainfo is known. False
  /// also on an error.
  bool is_told(Digest digest);
  /// What follows behind the readers.
  void verify(Digest digest);
  /// What the indexer does. True if the file was recorded.
  bool index(Digest digest);
  /// Whether a pusher is told that the blob is here. True also on an error: it does not go on then.
  bool settles_as_here(Digest digest);
  std::uint64_t bytes_read() const { return disk_.bytes_read(); }

 private:
  struct Process;

  TemporaryDirectory directory_;
  const GroupSync group_sync_;
  const Durability durability_;
  const Disks disks_;
  ManualClock clock_;
  Random random_{7};
  FaultyDisk disk_;
  std::unique_ptr<FaultyFileSystem> database_disk_;
  asio::io_context io_;  // Before the process, whose pool wakes coroutines on it.
  std::unique_ptr<Process> process_;
};

}  // namespace orlop
