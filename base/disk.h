#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/folder_handles.h"
#include "base/result.h"
#include "base/unique_fd.h"

namespace orlop {

/// What stat(2) says of a regular file, in the parts that we keep.
struct FileStat {
  std::uint64_t size_bytes = 0;
  std::uint64_t blocks = 0;  ///< Of 512 bytes: the space that the file takes.
  std::uint64_t inode = 0;
  std::int64_t modified_ns = 0;  ///< mtime, since 1970.
  std::int64_t changed_ns = 0;   ///< ctime, since 1970. Not settable by anybody.

  friend bool operator==(const FileStat&, const FileStat&) = default;
};

/// One name in a directory.
struct DirectoryEntry {
  std::string name;
  bool regular_file = false;  ///< False for directories, links and everything special.
  bool directory = false;
};

/// The system calls that a blob's life depends on, as one seam.
///
/// Every one of them can fail, and a machine can die between any two. Tests put a Disk here that
/// does both at a chosen call (tests/store/faulty_disk.h); production has PosixDisk. Calls block.
/// Implementations are safe to call from any thread at once. No call follows a symbolic link in
/// the last component of a path, and none blocks on opening a FIFO.
class Disk {
 public:
  virtual ~Disk() = default;

  /// From now on, paths below `folder` are found from a handle of it that is opened now, and no
  /// symbolic link below it is followed (base/folder_handles.h). Where one stands in the way of a
  /// path nothing is there for the calls that look (`not_found`) or remove (success), and nothing
  /// can be made (`io_error`). Call it before other threads use the disk.
  virtual Result<> confine(const std::filesystem::path& folder) = 0;

  /// A new empty file for reading and writing; fails if the name is taken.
  virtual Result<UniqueFd> create(const std::filesystem::path& path) = 0;
  /// An existing regular file for reading and writing. `not_found` also for what is no file.
  virtual Result<UniqueFd> open(const std::filesystem::path& path) = 0;
  /// An existing regular file for reading. `not_found` also for what is no file.
  virtual Result<UniqueFd> open_for_reading(const std::filesystem::path& path) = 0;

  virtual Result<FileStat> stat(const UniqueFd& file) = 0;
  virtual Result<FileStat> stat(const std::filesystem::path& path) = 0;

  /// Writes all of `bytes` at `offset`, or fails.
  virtual Result<> write(const UniqueFd& file, std::span<const std::byte> bytes,
                         std::uint64_t offset) = 0;
  /// Reads until `bytes` is full or the file ends; the count says which.
  virtual Result<std::size_t> read(const UniqueFd& file, std::span<std::byte> bytes,
                                   std::uint64_t offset) = 0;
  virtual Result<> truncate(const UniqueFd& file, std::uint64_t size_bytes) = 0;

  /// Asks the kernel to begin writing a range back; promises nothing.
  virtual void start_writeback(const UniqueFd& file, std::uint64_t offset,
                               std::uint64_t length) = 0;
  /// fdatasync(2): the bytes and the length survive a power cut; the name may not.
  virtual Result<> sync_data(const UniqueFd& file) = 0;
  /// fsync(2) of a directory: the names in it survive a power cut.
  virtual Result<> sync_directory(const std::filesystem::path& path) = 0;
  /// syncfs(2): all that was written to this directory's file system before the call survives a
  /// power cut. Reports write-back errors since `directory` was opened, so keep it open.
  virtual Result<> sync_filesystem(const UniqueFd& directory) = 0;

  /// rename(2): replaces `to` if it is there.
  virtual Result<> rename(const std::filesystem::path& from, const std::filesystem::path& to) = 0;
  /// Succeeds if the name is gone afterwards.
  virtual Result<> remove_file(const std::filesystem::path& path) = 0;
  /// Removes an empty directory; not empty is success too, nothing is lost by its staying.
  virtual Result<> remove_directory(const std::filesystem::path& path) = 0;
  /// Makes one directory, not its parents. True if it was made, false if it was there.
  virtual Result<bool> make_directory(const std::filesystem::path& path) = 0;
  virtual Result<UniqueFd> open_directory(const std::filesystem::path& path) = 0;
  virtual Result<std::vector<DirectoryEntry>> list(const std::filesystem::path& path) = 0;
};

/// The real one.
class PosixDisk final : public Disk {
 public:
  Result<> confine(const std::filesystem::path& folder) override { return folders_.add(folder); }
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
  Result<UniqueFd> open_regular(const std::filesystem::path& path, int flags);

  FolderHandles folders_;
};

}  // namespace orlop
