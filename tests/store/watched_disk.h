#pragma once

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"

namespace orlop {

/// What was asked of fakes, in order. Several may write into one. Safe from any thread.
class CallLog {
 public:
  struct Call {
    std::string name;
    std::filesystem::path path;
  };

  void add(std::string_view name, std::filesystem::path path = {}) {
    const std::lock_guard lock(mutex_);
    calls_.push_back({.name = std::string(name), .path = std::move(path)});
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    calls_.clear();
  }
  std::vector<Call> calls() const {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  /// The names of the calls in order, each run of equal ones as one.
  std::vector<std::string> phases() const {
    std::vector<std::string> names;
    for (const auto& call : calls()) {
      if (names.empty() || names.back() != call.name) names.push_back(call.name);
    }
    return names;
  }
  std::size_t count(std::string_view name) const {
    const auto all = calls();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const Call& call) { return call.name == name; }));
  }

 private:
  mutable std::mutex mutex_;
  std::vector<Call> calls_;
};

/// The real disk, but it writes down each call by its name, and refuses those that a test names.
class WatchedDisk final : public Disk {
 public:
  WatchedDisk() = default;
  explicit WatchedDisk(CallLog& log) : log_(&log) {}

  /// From now on, calls of this name fail with this errno: all, or those whose path (of a rename,
  /// the one it starts from) has `part` in it.
  void refuse(std::string name, int error_number, std::string part = {}) {
    const std::lock_guard lock(mutex_);
    refusals_.push_back({std::move(name), error_number, std::move(part)});
  }
  void refuse_nothing() {
    const std::lock_guard lock(mutex_);
    refusals_.clear();
  }
  CallLog& log() { return *log_; }

  Result<> confine(const std::filesystem::path& folder) override { return disk_.confine(folder); }
  Result<UniqueFd> create(const std::filesystem::path& path) override {
    if (auto refused = note("create", path)) return *std::move(refused);
    return disk_.create(path);
  }
  Result<UniqueFd> open(const std::filesystem::path& path) override {
    if (auto refused = note("open", path)) return *std::move(refused);
    return disk_.open(path);
  }
  Result<UniqueFd> open_for_reading(const std::filesystem::path& path) override {
    if (auto refused = note("open_for_reading", path)) return *std::move(refused);
    return disk_.open_for_reading(path);
  }
  Result<FileStat> stat(const UniqueFd& file) override {
    if (auto refused = note("stat", path_of(file))) return *std::move(refused);
    return disk_.stat(file);
  }
  Result<FileStat> stat(const std::filesystem::path& path) override {
    if (auto refused = note("stat", path)) return *std::move(refused);
    return disk_.stat(path);
  }
  Result<> write(const UniqueFd& file, std::span<const std::byte> bytes,
                 std::uint64_t offset) override {
    if (auto refused = note("write", path_of(file))) return *std::move(refused);
    return disk_.write(file, bytes, offset);
  }
  Result<std::size_t> read(const UniqueFd& file, std::span<std::byte> bytes,
                           std::uint64_t offset) override {
    if (auto refused = note("read", path_of(file))) return *std::move(refused);
    return disk_.read(file, bytes, offset);
  }
  Result<> truncate(const UniqueFd& file, std::uint64_t size_bytes) override {
    if (auto refused = note("truncate", path_of(file))) return *std::move(refused);
    return disk_.truncate(file, size_bytes);
  }
  void start_writeback(const UniqueFd& file, std::uint64_t offset, std::uint64_t length) override {
    log_->add("start_writeback", path_of(file));
    disk_.start_writeback(file, offset, length);
  }
  Result<> sync_data(const UniqueFd& file) override {
    if (auto refused = note("sync_data", path_of(file))) return *std::move(refused);
    return disk_.sync_data(file);
  }
  Result<> sync_directory(const std::filesystem::path& path) override {
    if (auto refused = note("sync_directory", path)) return *std::move(refused);
    return disk_.sync_directory(path);
  }
  Result<> sync_filesystem(const UniqueFd& directory) override {
    if (auto refused = note("sync_filesystem", path_of(directory))) return *std::move(refused);
    return {};  // Not done: it would flush whatever else this machine is writing.
  }
  Result<> rename(const std::filesystem::path& from, const std::filesystem::path& to) override {
    if (auto refused = note("rename", from)) return *std::move(refused);
    return disk_.rename(from, to);
  }
  Result<> remove_file(const std::filesystem::path& path) override {
    if (auto refused = note("remove_file", path)) return *std::move(refused);
    return disk_.remove_file(path);
  }
  Result<> remove_directory(const std::filesystem::path& path) override {
    if (auto refused = note("remove_directory", path)) return *std::move(refused);
    return disk_.remove_directory(path);
  }
  Result<bool> make_directory(const std::filesystem::path& path) override {
    if (auto refused = note("make_directory", path)) return *std::move(refused);
    return disk_.make_directory(path);
  }
  Result<UniqueFd> open_directory(const std::filesystem::path& path) override {
    if (auto refused = note("open_directory", path)) return *std::move(refused);
    return disk_.open_directory(path);
  }
  Result<std::vector<DirectoryEntry>> list(const std::filesystem::path& path) override {
    if (auto refused = note("list", path)) return *std::move(refused);
    return disk_.list(path);
  }

 private:
  struct Refusal {
    std::string name;
    int error_number;
    std::string part;
  };

  static std::filesystem::path path_of(const UniqueFd& file) {
    std::error_code ignored;
    return std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file.get()), ignored);
  }

  std::optional<Error> note(std::string_view name, const std::filesystem::path& path) {
    log_->add(name, path);
    const std::lock_guard lock(mutex_);
    for (const auto& refusal : refusals_) {
      if (refusal.name != name || path.string().find(refusal.part) == std::string::npos) continue;
      return Error::from_errno(std::string(name) + " " + path.string(), refusal.error_number);
    }
    return std::nullopt;
  }

  PosixDisk disk_;
  CallLog own_log_;
  CallLog* log_ = &own_log_;
  std::mutex mutex_;
  std::vector<Refusal> refusals_;
};

}  // namespace orlop
