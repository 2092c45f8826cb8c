#include "metadata/open_database.h"

#include <rocksdb/listener.h>

#include <utility>
#include <vector>

#include "base/log.h"
#include "metadata/rocksdb_error.h"
#include "metadata/usage_merge.h"

namespace orlop {
namespace {

/// Hears of a flush or a compaction that failed, which otherwise only the next writer would notice.
class BackgroundErrors final : public rocksdb::EventListener {
 public:
  explicit BackgroundErrors(OpenDatabase& database) : database_(&database) {}

  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    database_->die(status->ToString());
  }

 private:
  OpenDatabase* database_;  // Owns us, by way of RocksDB.
};

std::vector<rocksdb::ColumnFamilyDescriptor> families(const rocksdb::Options& options) {
  std::vector<rocksdb::ColumnFamilyDescriptor> all;
  all.reserve(std::size(kFamilyNames));
  for (const auto* name : kFamilyNames) all.emplace_back(name, options);
  auto& general = all[static_cast<std::size_t>(Family::general)].options;
  general.merge_operator = make_usage_merge();
  // Between two flushes a read of the usage adds up no more deltas than this.
  general.max_successive_merges = 256;
  return all;
}

}  // namespace

Error cannot_write(std::string_view reason) {
  return Error(Errc::busy, "metadata store cannot write: " + std::string(reason) + "; reopening");
}

Result<std::unique_ptr<OpenDatabase>> OpenDatabase::open(const rocksdb::Options& options,
                                                         const std::filesystem::path& path,
                                                         OpenMode mode, OnDeath on_death) {
  std::unique_ptr<OpenDatabase> database(new OpenDatabase(std::move(on_death)));
  auto listening = options;
  listening.listeners.push_back(std::make_shared<BackgroundErrors>(*database));

  rocksdb::DB* db = nullptr;
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  const auto status =
      mode == OpenMode::read_only
          ? rocksdb::DB::OpenForReadOnly(listening, path.string(), families(options), &handles, &db)
          : rocksdb::DB::Open(listening, path.string(), families(options), &handles, &db);
  if (!status.ok()) {
    auto error = to_error(status, "open " + path.string());
    if (error.code() != Errc::corrupt) return error;
    return Error(Errc::corrupt, error.detail() +
                                    "; the metadata store is damaged: move this folder away and "
                                    "start again, blobs are adopted again from their files");
  }
  database->db_.reset(db);
  ORLOP_CHECK(handles.size() == kFamilyNames.size());
  for (std::size_t i = 0; i < handles.size(); ++i) database->handles_[i] = handles[i];
  return database;
}

OpenDatabase::~OpenDatabase() {
  if (!db_) return;
  for (auto* handle : handles_) db_->DestroyColumnFamilyHandle(handle).PermitUncheckedError();
  // Nothing can be lost here that a crash would not lose: all writes are with the kernel.
  if (const auto status = db_->Close(); !status.ok()) {
    log_warn("metadata_close_failed", {{"reason", status.ToString()}});
  }
}

Result<> OpenDatabase::get(Family family, std::string_view key,
                           rocksdb::PinnableSlice& value) const {
  const auto status = db_->Get(rocksdb::ReadOptions(), handle(family), to_slice(key), &value);
  if (status.IsNotFound()) return Error(Errc::not_found, "not recorded");  // Often: keep it cheap.
  if (!status.ok()) return to_error(status, "read metadata");
  return {};
}

Result<bool> OpenDatabase::has(Family family, std::string_view key) const {
  rocksdb::PinnableSlice ignored;
  const auto found = get(family, key, ignored);
  if (found) return true;
  if (found.error().code() == Errc::not_found) return false;
  return found.error();
}

std::unique_ptr<rocksdb::Iterator> OpenDatabase::scan(Family family) const {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  return std::unique_ptr<rocksdb::Iterator>(db_->NewIterator(options, handle(family)));
}

Result<> OpenDatabase::write(rocksdb::WriteBatch& batch, bool synced) {
  if (write_dead()) return refused();
  rocksdb::WriteOptions options;
  options.sync = synced;
  if (const auto status = db_->Write(options, &batch); !status.ok()) {
    die(status.ToString());
    return refused();
  }
  return {};
}

Result<> OpenDatabase::sync() {
  if (write_dead()) return refused();
  if (const auto status = db_->FlushWAL(true); !status.ok()) {
    die(status.ToString());
    return refused();
  }
  return {};
}

void OpenDatabase::die(const std::string& reason) {
  std::call_once(death_, [&] {
    reason_ = reason;
    write_dead_.store(true, std::memory_order_release);
    on_death_(reason);
  });
}

Error OpenDatabase::refused() const { return cannot_write(reason_); }

}  // namespace orlop
