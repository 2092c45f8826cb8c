#pragma once

#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "base/result.h"
#include "metadata/open_database.h"

namespace orlop {

struct DatabaseOptions {
  std::filesystem::path path;
  rocksdb::Env* env = nullptr;  ///< Null is the system's. Outlives the database.
  std::chrono::milliseconds reopen_every{1000};
  OpenMode mode = OpenMode::read_write;  ///< Read-only: writing is refused, and nobody guards.
};

/// RocksDB behind a guard: after a failed write it is closed and opened anew, as often as it takes.
///
/// Why: RocksDB 7.8 stays write-dead after ENOSPC or EIO although the disk is well again (design,
/// section 3). The guard waits until a file beside the tables can be written and synced, so that
/// readers keep the old database for as long as the disk is full; then it closes, opens, and writes
/// a probe. Only when that is synced is writing allowed again.
///
/// Safe to use from any thread. No lock is held while the disk is waited for.
class Database {
 public:
  /// Fails as OpenDatabase does; there is no guard yet for the first opening.
  static Result<std::unique_ptr<Database>> open(DatabaseOptions options);

  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;
  /// Nobody uses it any more.
  ~Database();

  /// The database, for one call; `busy` in the moments when it is closed. Shared, because the guard
  /// takes its own share away whenever it must: whoever holds the last one closes. So hold it for
  /// one call only, the guard waits for you. What was read from one and is written back by it is
  /// right: no other opening has been between.
  Result<std::shared_ptr<OpenDatabase>> for_reading() const;
  /// The same for a call that writes: `busy` also while the database is write-dead.
  Result<std::shared_ptr<OpenDatabase>> for_writing() const;

  /// Why nothing can be written now.
  std::optional<std::string> fault() const;

 private:
  explicit Database(DatabaseOptions options) : options_(std::move(options)) {}

  Result<std::shared_ptr<OpenDatabase>> open_once();
  void note_death(const std::string& reason);
  void guard();
  Result<> try_files() const;
  void close_current();
  Result<> reopen();

  DatabaseOptions options_;
  rocksdb::Options rocksdb_options_;

  mutable std::mutex mutex_;  // Guards what follows.
  std::condition_variable changed_;
  std::shared_ptr<OpenDatabase> current_;  // Null while it is closed.
  std::size_t open_count_ = 0;             // One, or none: RocksDB's own lock allows no more.
  std::optional<std::string> fault_;
  bool stopping_ = false;

  std::thread guard_;  // Last: it uses all of the above.
};

}  // namespace orlop
