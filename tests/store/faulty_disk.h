#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/disk.h"

namespace orlop {

/// What a power cut leaves of what was written and not synced. Kernels write back what they like
/// when they like; these are the two ends.
enum class Unsynced : std::uint8_t {
  gone,    ///< Names are as when their folder was last synced, files as when they were.
  zeroed,  ///< Every name is there, with its length and times, but with zeros for lost bytes.
};

/// A real disk on which a process dies at a chosen call, and the power goes.
///
/// It keeps a second image of the folder `root`: what is durable. Bytes enter it by a sync of their
/// file, names by a sync of their folder, everything by a sync of the file system. `power_cut`
/// makes the folder what the image says. Folders and files that were there before are durable.
/// After it, `stat` goes on telling the old inode and times of surviving files: a kernel that lost
/// bytes need not have lost those, and a fingerprint must not be fooled.
class FaultyDisk final : public Disk {
 public:
  explicit FaultyDisk(std::filesystem::path root);

  /// From now on `folder`, somewhere below the root, is a file system of its own: its sync is not
  /// the others', and no rename crosses its border.
  void add_filesystem(std::filesystem::path folder) { filesystems_.push_back(std::move(folder)); }

  /// The call that comes as number `call` from now on (1 is the next), and all after it, fail.
  void die_at(std::uint64_t call);
  /// Counts a call that is not this class's own: RocksDB's. True if the process is dead.
  bool count_call();
  bool dead() const;
  std::uint64_t calls() const;
  /// By `read`, since the beginning.
  std::uint64_t bytes_read() const { return bytes_read_; }

  /// Called when it dies, and when a sync of the root's whole file system succeeds.
  std::function<void()> on_death;
  std::function<void()> on_filesystem_synced;

  /// No file may be open. Afterwards the disk works again.
  void power_cut(Unsynced unsynced);
  /// The process was killed but the kernel lives: the disk works again, nothing is lost.
  void revive();

  /// Not done: a power cut makes the folder anew, and a handle would go on naming the old one.
  Result<> confine(const std::filesystem::path&) override { return {}; }
  Result<UniqueFd> create(const std::filesystem::path& path) override;
  Result<UniqueFd> open(const std::filesystem::path& path) override;
  Result<UniqueFd> open_for_reading(const std::filesystem::path& path) override;
  Result<FileStat> stat(const UniqueFd& file) override;
  Result<FileStat> stat(const std::filesystem::path& path) override;
  Result<> write(const UniqueFd& file, std::span<const std::byte> bytes,
                 std::uint64_t offset) override;
  Result<std::size_t> read(const UniqueFd& file, std::span<std::byte> bytes,
                           std::uint64_t offset) override;
  Result<> truncate(const UniqueFd& file, std::uint64_t size_bytes) override;
  void start_writeback(const UniqueFd& file, std::uint64_t offset, std::uint64_t length) override;
  Result<> sync_data(const UniqueFd& file) override;
  Result<> sync_directory(const std::filesystem::path& path) override;
  Result<> sync_filesystem(const UniqueFd& directory) override;
  Result<> rename(const std::filesystem::path& from, const std::filesystem::path& to) override;
  Result<> remove_file(const std::filesystem::path& path) override;
  Result<> remove_directory(const std::filesystem::path& path) override;
  Result<bool> make_directory(const std::filesystem::path& path) override;
  Result<UniqueFd> open_directory(const std::filesystem::path& path) override;
  Result<std::vector<DirectoryEntry>> list(const std::filesystem::path& path) override;

 private:
  using FileId = std::uint64_t;

  /// A file by its own number: inode numbers are used again.
  struct File {
    std::string synced;  ///< The bytes that are durable.
  };
  /// What a durable folder holds: nothing for a folder, else the file.
  using Names = std::map<std::string, std::optional<FileId>>;

  Result<> step(const char* what);
  FileId id_of(const std::filesystem::path& path);
  const std::filesystem::path& filesystem_of(const std::filesystem::path& path) const;
  void remember_everything();
  void remember_filesystem(const std::filesystem::path& filesystem);
  void remember_folder(const std::filesystem::path& path);
  void restore_folder(const std::filesystem::path& path, Unsynced unsynced,
                      const std::map<FileId, std::filesystem::path>& live);
  void restore_file(const std::filesystem::path& path, FileId id, Unsynced unsynced,
                    const std::map<FileId, std::filesystem::path>& live);

  PosixDisk real_;
  const std::filesystem::path root_;
  std::vector<std::filesystem::path> filesystems_;  ///< Besides the root's.

  mutable std::recursive_mutex mutex_;
  std::uint64_t calls_ = 0;
  std::uint64_t fatal_call_ = 0;  ///< 0: none.
  bool dead_ = false;
  std::atomic<std::uint64_t> bytes_read_ = 0;

  FileId next_id_ = 1;
  std::map<std::uint64_t, FileId> ids_;  ///< By inode, of the files that live now.
  std::map<FileId, File> files_;
  std::map<std::filesystem::path, Names> durable_;   ///< By folder.
  std::map<std::uint64_t, FileStat> claimed_stats_;  ///< By inode: what stat says after a cut.
};

}  // namespace orlop
