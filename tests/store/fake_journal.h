#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "store/commit_journal.h"
#include "tests/store/watched_disk.h"

namespace orlop {

/// A journal that remembers the groups it was given, in memory, and can be made to fail or to hang.
/// Writes its calls into the log, "distrust" with the hex of each digest as the path. Safe from any
/// thread.
class FakeJournal final : public CommitJournal {
 public:
  struct Entry {
    Digest digest;
    FileStat file;
    CommitNote note;
  };

  explicit FakeJournal(CallLog& log) : log_(log) {}

  /// Calls of `record` wait until `release`.
  void block() {
    const std::lock_guard lock(mutex_);
    blocked_ = true;
  }
  void release() {
    {
      const std::lock_guard lock(mutex_);
      blocked_ = false;
    }
    changed_.notify_all();
  }
  /// Until `record` has been called `calls` times.
  void wait_for_records(std::size_t calls) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return groups_.size() >= calls; });
  }
  void fail_record(Error error) { record_error_ = std::move(error); }
  void fail_sync(Error error) { sync_error_ = std::move(error); }

  std::vector<std::vector<Entry>> groups() const {
    const std::lock_guard lock(mutex_);
    return groups_;
  }
  std::vector<std::size_t> group_sizes() const {
    std::vector<std::size_t> sizes;
    for (const auto& group : groups()) sizes.push_back(group.size());
    return sizes;
  }

  Result<> record(std::span<const CommitRecord> group) override {
    log_.add("record");
    std::unique_lock lock(mutex_);
    auto& copy = groups_.emplace_back();
    for (const auto& one : group) {
      copy.push_back({.digest = one.metainfo->digest(), .file = one.file, .note = *one.note});
    }
    changed_.notify_all();
    changed_.wait(lock, [&] { return !blocked_; });
    if (record_error_) return *record_error_;
    return {};
  }
  void distrust(std::span<const CommitRecord> group) override {
    for (const auto& one : group) log_.add("distrust", one.metainfo->digest().hex());
  }
  Result<> sync() override {
    log_.add("sync");
    if (sync_error_) return *sync_error_;
    return {};
  }

 private:
  CallLog& log_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool blocked_ = false;
  std::vector<std::vector<Entry>> groups_;
  std::optional<Error> record_error_;
  std::optional<Error> sync_error_;
};

}  // namespace orlop
