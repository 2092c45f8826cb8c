#include "metadata/database.h"

#include <rocksdb/env.h>

#include <system_error>
#include <utility>

#include "base/log.h"
#include "metadata/keys.h"
#include "metadata/rocksdb_error.h"
#include "metadata/rocksdb_options.h"

namespace orlop {
namespace {

/// RocksDB leaves files alone that are not named as its own are.
constexpr const char* kProbeFile = "orlop.probe";
/// Enough to tell a full disk from one with room for the log and the manifest of an opening.
constexpr std::size_t kProbeBytes = std::size_t{1} << 20;

}  // namespace

Result<std::unique_ptr<Database>> Database::open(DatabaseOptions options) {
  const bool writes = options.mode == OpenMode::read_write;
  std::error_code failed;
  if (writes) std::filesystem::create_directories(options.path, failed);
  if (failed) return Error::from_errno("make " + options.path.string(), failed.value());
  // RocksDB would make the folder, and then say that the file is not there.
  if (!writes && !std::filesystem::exists(options.path / "CURRENT", failed)) {
    return Error(Errc::not_found, "no database in " + options.path.string());
  }

  std::unique_ptr<Database> database(new Database(std::move(options)));
  database->rocksdb_options_ =
      make_rocksdb_options(database->options_.path, database->options_.env);
  auto opened = database->open_once();
  if (!opened) return std::move(opened).error();
  database->current_ = *std::move(opened);
  if (!writes) database->fault_ = "it was opened for reading only";
  if (!writes) return database;
  database->guard_ = std::thread([raw = database.get()] { raw->guard(); });
  return database;
}

Database::~Database() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (guard_.joinable()) guard_.join();
  close_current();
}

Result<std::shared_ptr<OpenDatabase>> Database::for_reading() const {
  const std::lock_guard lock(mutex_);
  if (!current_) return cannot_write(fault_.value_or("closed"));
  return current_;
}

Result<std::shared_ptr<OpenDatabase>> Database::for_writing() const {
  const std::lock_guard lock(mutex_);
  if (fault_) return cannot_write(*fault_);
  ORLOP_CHECK(current_ != nullptr);  // It is closed only while there is a fault.
  return current_;
}

std::optional<std::string> Database::fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

Result<std::shared_ptr<OpenDatabase>> Database::open_once() {
  auto opened = OpenDatabase::open(rocksdb_options_, options_.path, options_.mode,
                                   [this](const std::string& reason) { note_death(reason); });
  if (!opened) return std::move(opened).error();
  {
    const std::lock_guard lock(mutex_);
    ++open_count_;
  }
  // The last user closes, which takes a while, and then tells the guard.
  const auto close = [this](OpenDatabase* database) {
    delete database;
    const std::lock_guard lock(mutex_);
    --open_count_;
    changed_.notify_all();
  };
  return std::shared_ptr<OpenDatabase>((*std::move(opened)).release(), close);
}

void Database::note_death(const std::string& reason) {
  {
    const std::lock_guard lock(mutex_);
    if (fault_) return;  // An opening of the guard's failed: it knows.
    fault_ = reason;
  }
  log_error("metadata_cannot_write", {{"reason", reason}});
  changed_.notify_all();
}

void Database::guard() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return stopping_ || fault_; });
    changed_.wait_for(lock, options_.reopen_every, [this] { return stopping_; });
    if (stopping_) return;

    lock.unlock();
    auto reopened = try_files();
    if (reopened) reopened = reopen();
    lock.lock();
    if (!reopened) fault_ = reopened.error().detail();
  }
}

Result<> Database::try_files() const {
  const auto path = (options_.path / kProbeFile).string();
  auto* env = rocksdb_options_.env;
  const auto status =
      rocksdb::WriteStringToFile(env, std::string(kProbeBytes, '\0'), path, /*should_sync=*/true);
  env->DeleteFile(path).PermitUncheckedError();  // The next probe would overwrite it.
  if (!status.ok()) return to_error(status, "write " + path);
  return {};
}

void Database::close_current() {
  std::unique_lock lock(mutex_);
  auto closing = std::exchange(current_, nullptr);
  lock.unlock();
  closing.reset();
  lock.lock();
  changed_.wait(lock, [this] { return open_count_ == 0; });
}

Result<> Database::reopen() {
  close_current();
  auto opened = open_once();
  if (!opened) return std::move(opened).error();
  const auto database = *std::move(opened);

  rocksdb::WriteBatch probe;
  probe.Put(database->handle(Family::general), to_slice(kProbeKey), rocksdb::Slice());
  auto written = database->write(probe, /*synced=*/true);

  {
    const std::lock_guard lock(mutex_);
    current_ = database;  // Also if it cannot be written: then it is there to be read.
    // It may die at any moment on a thread of RocksDB's. Either we see it here, or `note_death`,
    // which needs our lock, comes after us and finds no fault to hide behind.
    if (database->write_dead()) return Error(Errc::busy, database->reason());
    if (!written) return written;
    fault_.reset();
  }
  log_info("metadata_writes_again");
  return {};
}

}  // namespace orlop
