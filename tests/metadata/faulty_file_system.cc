#include "tests/metadata/faulty_file_system.h"

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/check.h"

namespace orlop {

using rocksdb::FileOptions;
using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

/// A file that is written, and whose lengths are kept.
class FaultyFileSystem::File final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  File(FaultyFileSystem& faults, std::string path, std::unique_ptr<rocksdb::FSWritableFile> inner)
      : FSWritableFileOwnerWrapper(std::move(inner)), faults_(&faults), path_(std::move(path)) {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    return write(data, [&] { return target()->Append(data, options, debug); });
  }
  IOStatus Append(const Slice& data, const IOOptions& options,
                  const rocksdb::DataVerificationInfo& verify, IODebugContext* debug) override {
    return write(data, [&] { return target()->Append(data, options, verify, debug); });
  }
  IOStatus Truncate(std::uint64_t size, const IOOptions& options, IODebugContext* debug) override {
    if (faults_->dead()) return dead_status();
    auto status = target()->Truncate(size, options, debug);
    const std::lock_guard lock(faults_->mutex_);
    auto& length = faults_->files_[path_];
    if (status.ok()) length = {size, std::min(size, length.synced)};
    return status;
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return sync([&] { return target()->Sync(options, debug); });
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return sync([&] { return target()->Fsync(options, debug); });
  }

  static IOStatus dead_status() { return IOStatus::IOError("the process is dead"); }

 private:
  /// What a write answers instead of being done.
  IOStatus fault() {
    if (faults_->on_write) faults_->on_write();
    const std::lock_guard lock(faults_->mutex_);
    if (faults_->dead_) return dead_status();
    if (faults_->error_number_ == 0) return IOStatus::OK();
    if (path_.find(faults_->only_in_) == path_.npos) return IOStatus::OK();
    const char* const why = std::strerror(faults_->error_number_);
    return faults_->error_number_ == ENOSPC ? IOStatus::NoSpace(path_, why)
                                            : IOStatus::IOError(path_, why);
  }

  template <class Call>
  IOStatus write(const Slice& data, Call call) {
    if (auto status = fault(); !status.ok()) return status;
    auto status = call();
    const std::lock_guard lock(faults_->mutex_);
    if (status.ok()) faults_->files_[path_].written += data.size();
    return status;
  }

  template <class Call>
  IOStatus sync(Call call) {
    if (auto status = fault(); !status.ok()) return status;
    // Only what was written before the call is sure to be synced by it.
    std::unique_lock lock(faults_->mutex_);
    const auto written = faults_->files_[path_].written;
    lock.unlock();
    auto status = call();
    lock.lock();
    auto& length = faults_->files_[path_];
    if (status.ok()) length.synced = std::max(length.synced, written);
    return status;
  }

  FaultyFileSystem* faults_;
  std::string path_;
};

class FaultyFileSystem::Wrapper final : public rocksdb::FileSystemWrapper {
 public:
  explicit Wrapper(FaultyFileSystem& faults)
      : FileSystemWrapper(rocksdb::FileSystem::Default()), faults_(&faults) {}

  static const char* kClassName() { return "FaultyFileSystem"; }
  const char* Name() const override { return kClassName(); }

  IOStatus NewWritableFile(const std::string& path, const FileOptions& options,
                           std::unique_ptr<rocksdb::FSWritableFile>* file,
                           IODebugContext* debug) override {
    if (faults_->dead()) return File::dead_status();
    auto status = target()->NewWritableFile(path, options, file, debug);
    return watched(path, std::move(status), file, {});
  }
  IOStatus ReopenWritableFile(const std::string& path, const FileOptions& options,
                              std::unique_ptr<rocksdb::FSWritableFile>* file,
                              IODebugContext* debug) override {
    if (faults_->dead()) return File::dead_status();
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    auto status = target()->ReopenWritableFile(path, options, file, debug);
    const Length before = none ? Length{} : Length{size, size};
    const std::unique_lock lock(faults_->mutex_);
    const auto known = faults_->files_.find(path);
    const auto length = known == faults_->files_.end() ? before : known->second;
    return watched_locked(path, std::move(status), file, length);
  }
  IOStatus ReuseWritableFile(const std::string&, const std::string&, const FileOptions&,
                             std::unique_ptr<rocksdb::FSWritableFile>*, IODebugContext*) override {
    return IOStatus::NotSupported("recycled logs are off");
  }
  IOStatus RenameFile(const std::string& from, const std::string& to, const IOOptions& options,
                      IODebugContext* debug) override {
    if (faults_->dead()) return File::dead_status();
    auto status = target()->RenameFile(from, to, options, debug);
    const std::lock_guard lock(faults_->mutex_);
    if (!status.ok()) return status;
    faults_->files_.erase(to);
    if (auto moved = faults_->files_.extract(from)) {
      moved.key() = to;
      faults_->files_.insert(std::move(moved));
    }
    return status;
  }
  IOStatus DeleteFile(const std::string& path, const IOOptions& options,
                      IODebugContext* debug) override {
    if (faults_->dead()) return File::dead_status();
    auto status = target()->DeleteFile(path, options, debug);
    const std::lock_guard lock(faults_->mutex_);
    if (status.ok()) faults_->files_.erase(path);
    return status;
  }
  IOStatus LinkFile(const std::string&, const std::string&, const IOOptions&,
                    IODebugContext*) override {
    return IOStatus::NotSupported("links are not watched");
  }
  IOStatus CreateDir(const std::string& path, const IOOptions& options,
                     IODebugContext* debug) override {
    if (faults_->dead()) return File::dead_status();
    return target()->CreateDir(path, options, debug);
  }
  IOStatus CreateDirIfMissing(const std::string& path, const IOOptions& options,
                              IODebugContext* debug) override {
    if (faults_->dead()) return File::dead_status();
    return target()->CreateDirIfMissing(path, options, debug);
  }

 private:
  IOStatus watched(const std::string& path, IOStatus status,
                   std::unique_ptr<rocksdb::FSWritableFile>* file, Length length) {
    const std::lock_guard lock(faults_->mutex_);
    return watched_locked(path, std::move(status), file, length);
  }
  IOStatus watched_locked(const std::string& path, IOStatus status,
                          std::unique_ptr<rocksdb::FSWritableFile>* file, Length length) {
    if (!status.ok()) return status;
    faults_->files_[path] = length;
    *file = std::make_unique<File>(*faults_, path, std::move(*file));
    return status;
  }

  FaultyFileSystem* faults_;
};

FaultyFileSystem::FaultyFileSystem()
    : env_(rocksdb::NewCompositeEnv(std::make_shared<Wrapper>(*this))) {}

FaultyFileSystem::~FaultyFileSystem() = default;

void FaultyFileSystem::fail_writes(bool on, int error_number, std::string only_in) {
  const std::lock_guard lock(mutex_);
  only_in_ = std::move(only_in);
  error_number_ = on ? error_number : 0;
}

void FaultyFileSystem::die() {
  const std::lock_guard lock(mutex_);
  dead_ = true;
}

bool FaultyFileSystem::dead() const {
  const std::lock_guard lock(mutex_);
  return dead_;
}

void FaultyFileSystem::power_cut() {
  const std::lock_guard lock(mutex_);
  for (auto& [path, length] : files_) {
    std::error_code failed;
    std::filesystem::resize_file(path, length.synced, failed);
    ORLOP_CHECK(!failed);
    length.written = length.synced;
  }
}

void FaultyFileSystem::mark_all_synced() {
  const std::lock_guard lock(mutex_);
  for (auto& [path, length] : files_) length.synced = length.written;
}

}  // namespace orlop
