#include "tests/store/faulty_disk.h"

#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

namespace orlop {
namespace {

namespace fs = std::filesystem;

std::uint64_t inode_of(const fs::path& path) {
  struct stat raw = {};
  ORLOP_CHECK(::lstat(path.c_str(), &raw) == 0);
  return raw.st_ino;
}

std::uint64_t inode_of(const UniqueFd& file) {
  struct stat raw = {};
  ORLOP_CHECK(::fstat(file.get(), &raw) == 0);
  return raw.st_ino;
}

std::string contents_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

FaultyDisk::FaultyDisk(fs::path root) : root_(std::move(root)) { remember_everything(); }

void FaultyDisk::die_at(std::uint64_t call) {
  const std::lock_guard lock(mutex_);
  fatal_call_ = calls_ + call;
}

bool FaultyDisk::count_call() {
  std::unique_lock lock(mutex_);
  if (dead_) return true;
  if (++calls_ != fatal_call_) return false;
  dead_ = true;
  lock.unlock();
  if (on_death) on_death();
  return true;
}

bool FaultyDisk::dead() const {
  const std::lock_guard lock(mutex_);
  return dead_;
}

std::uint64_t FaultyDisk::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

void FaultyDisk::revive() {
  const std::lock_guard lock(mutex_);
  dead_ = false;
  fatal_call_ = 0;
}

Result<> FaultyDisk::step(const char* what) {
  if (count_call()) return Error(Errc::io_error, std::string(what) + ": the process is dead");
  return {};
}

FaultyDisk::FileId FaultyDisk::id_of(const fs::path& path) {
  const auto [at, added] = ids_.try_emplace(inode_of(path), next_id_);
  if (added) files_[next_id_++] = {};
  return at->second;
}

/// Makes the names in one folder durable, not what is in them.
void FaultyDisk::remember_folder(const fs::path& path) {
  Names names;
  for (const auto& entry : fs::directory_iterator(path)) {
    auto& what = names[entry.path().filename()];
    if (!entry.is_directory()) what = id_of(entry.path());
  }
  durable_[path] = std::move(names);
}

const fs::path& FaultyDisk::filesystem_of(const fs::path& path) const {
  for (const auto& folder : filesystems_) {
    if (path == folder || path.native().starts_with(folder.native() + "/")) return folder;
  }
  return root_;
}

void FaultyDisk::remember_everything() {
  remember_filesystem(root_);
  for (const auto& folder : filesystems_) remember_filesystem(folder);
}

void FaultyDisk::remember_filesystem(const fs::path& filesystem) {
  const std::lock_guard lock(mutex_);
  remember_folder(filesystem);
  for (const auto& entry : fs::recursive_directory_iterator(filesystem)) {
    if (filesystem_of(entry.path()) != filesystem) continue;
    if (entry.is_directory()) remember_folder(entry.path());
    if (entry.is_regular_file()) {
      files_.at(id_of(entry.path())).synced = contents_of(entry.path());
    }
  }
}

void FaultyDisk::power_cut(Unsynced unsynced) {
  const std::lock_guard lock(mutex_);
  if (unsynced == Unsynced::zeroed) {
    remember_folder(root_);
    for (const auto& entry : fs::recursive_directory_iterator(root_)) {
      if (entry.is_directory()) remember_folder(entry.path());
    }
  }
  // Beside the tree, so that bytes and times of the lost state can still be looked at.
  const fs::path before = root_.string() + ".before-the-cut";
  fs::rename(root_, before);
  std::map<FileId, fs::path> live;
  for (const auto& entry : fs::recursive_directory_iterator(before)) {
    if (!entry.is_regular_file()) continue;
    const auto id = ids_.find(inode_of(entry.path()));
    if (id != ids_.end()) live[id->second] = entry.path();
  }
  claimed_stats_.clear();
  ids_.clear();
  restore_folder(root_, unsynced, live);
  fs::remove_all(before);
  // What is there now is all that there ever was.
  durable_.clear();
  revive();
  remember_everything();
}

void FaultyDisk::restore_folder(const fs::path& path, Unsynced unsynced,
                                const std::map<FileId, fs::path>& live) {
  fs::create_directory(path);
  const auto found = durable_.find(path);
  if (found == durable_.end()) return;  // Its name was synced in its parent; its own names not.
  for (const auto& [name, id] : found->second) {
    if (id) {
      restore_file(path / name, *id, unsynced, live);
    } else {
      restore_folder(path / name, unsynced, live);
    }
  }
}

void FaultyDisk::restore_file(const fs::path& path, FileId id, Unsynced unsynced,
                              const std::map<FileId, fs::path>& live) {
  auto bytes = files_.at(id).synced;
  const auto lived = live.find(id);
  std::optional<FileStat> claimed;
  if (lived != live.end()) {
    const auto stat = real_.stat(lived->second);
    ORLOP_CHECK(stat.has_value());
    if (unsynced == Unsynced::zeroed) {
      bytes.resize(stat->size_bytes, '\0');
    }
    if (bytes.size() == stat->size_bytes) claimed = *stat;
  }
  std::ofstream(path, std::ios::binary) << bytes;
  ids_[inode_of(path)] = id;
  files_.at(id).synced = bytes;
  if (claimed) claimed_stats_[inode_of(path)] = *claimed;
}

Result<UniqueFd> FaultyDisk::create(const fs::path& path) {
  if (auto alive = step("create"); !alive) return std::move(alive).error();
  auto file = real_.create(path);
  if (file) {
    const std::lock_guard lock(mutex_);
    ids_[inode_of(path)] = next_id_;  // A new file, even if its inode number is an old one.
    files_[next_id_++] = {};
    claimed_stats_.erase(inode_of(path));
  }
  return file;
}

Result<UniqueFd> FaultyDisk::open(const fs::path& path) {
  if (auto alive = step("open"); !alive) return std::move(alive).error();
  return real_.open(path);
}

Result<UniqueFd> FaultyDisk::open_for_reading(const fs::path& path) {
  if (auto alive = step("open_for_reading"); !alive) return std::move(alive).error();
  return real_.open_for_reading(path);
}

Result<FileStat> FaultyDisk::stat(const UniqueFd& file) {
  if (auto alive = step("fstat"); !alive) return std::move(alive).error();
  const std::lock_guard lock(mutex_);
  const auto claimed = claimed_stats_.find(inode_of(file));
  if (claimed != claimed_stats_.end()) return claimed->second;
  return real_.stat(file);
}

Result<FileStat> FaultyDisk::stat(const fs::path& path) {
  if (auto alive = step("stat"); !alive) return std::move(alive).error();
  auto stat = real_.stat(path);
  if (!stat) return stat;
  const std::lock_guard lock(mutex_);
  const auto claimed = claimed_stats_.find(stat->inode);
  if (claimed != claimed_stats_.end()) return claimed->second;
  return stat;
}

Result<> FaultyDisk::write(const UniqueFd& file, std::span<const std::byte> bytes,
                           std::uint64_t offset) {
  if (auto alive = step("write"); !alive) {
    return alive;
  }
  const std::lock_guard lock(mutex_);
  claimed_stats_.erase(inode_of(file));
  return real_.write(file, bytes, offset);
}

Result<std::size_t> FaultyDisk::read(const UniqueFd& file, std::span<std::byte> bytes,
                                     std::uint64_t offset) {
  if (auto alive = step("read"); !alive) return std::move(alive).error();
  auto count = real_.read(file, bytes, offset);
  if (count) bytes_read_ += *count;
  return count;
}

Result<> FaultyDisk::truncate(const UniqueFd& file, std::uint64_t size_bytes) {
  if (auto alive = step("truncate"); !alive) return alive;
  const std::lock_guard lock(mutex_);
  claimed_stats_.erase(inode_of(file));
  return real_.truncate(file, size_bytes);
}

void FaultyDisk::start_writeback(const UniqueFd& file, std::uint64_t offset, std::uint64_t length) {
  if (step("start_writeback")) real_.start_writeback(file, offset, length);
}

Result<> FaultyDisk::sync_data(const UniqueFd& file) {
  if (auto alive = step("sync_data"); !alive) return alive;
  const std::lock_guard lock(mutex_);
  const auto id = ids_.find(inode_of(file));
  ORLOP_CHECK(id != ids_.end());
  files_.at(id->second).synced = contents_of("/proc/self/fd/" + std::to_string(file.get()));
  return {};
}

Result<> FaultyDisk::sync_directory(const fs::path& path) {
  if (auto alive = step("sync_directory"); !alive) return alive;
  if (!fs::is_directory(path)) return Error::from_errno("sync_directory", ENOENT);
  const std::lock_guard lock(mutex_);
  remember_folder(path);
  return {};
}

Result<> FaultyDisk::sync_filesystem(const UniqueFd& directory) {
  if (auto alive = step("sync_filesystem"); !alive) return alive;
  const auto& filesystem =
      filesystem_of(fs::read_symlink("/proc/self/fd/" + std::to_string(directory.get())));
  remember_filesystem(filesystem);
  if (filesystem == root_ && on_filesystem_synced) on_filesystem_synced();
  return {};
}

Result<> FaultyDisk::rename(const fs::path& from, const fs::path& to) {
  if (auto alive = step("rename"); !alive) return alive;
  if (filesystem_of(from) != filesystem_of(to)) return Error::from_errno("rename", EXDEV);
  return real_.rename(from, to);
}

Result<> FaultyDisk::remove_file(const fs::path& path) {
  if (auto alive = step("remove_file"); !alive) return alive;
  return real_.remove_file(path);
}

Result<> FaultyDisk::remove_directory(const fs::path& path) {
  if (auto alive = step("remove_directory"); !alive) return alive;
  return real_.remove_directory(path);
}

Result<bool> FaultyDisk::make_directory(const fs::path& path) {
  if (auto alive = step("make_directory"); !alive) return std::move(alive).error();
  return real_.make_directory(path);
}

Result<UniqueFd> FaultyDisk::open_directory(const fs::path& path) {
  if (auto alive = step("open_directory"); !alive) return std::move(alive).error();
  return real_.open_directory(path);
}

Result<std::vector<DirectoryEntry>> FaultyDisk::list(const fs::path& path) {
  if (auto alive = step("list"); !alive) return std::move(alive).error();
  return real_.list(path);
}

}  // namespace orlop
