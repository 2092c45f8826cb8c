#include "base/disk.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace orlop {
namespace {

constexpr mode_t kFileMode = 0644;
constexpr mode_t kDirectoryMode = 0775;  // As Kraken makes them, minus the umask.

std::string action(const char* call, const std::filesystem::path& path) {
  return std::string(call) + " " + path.string();
}

FileStat to_file_stat(const struct stat& raw) {
  const auto nanoseconds = [](const timespec& time) {
    return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
  };
  return {.size_bytes = static_cast<std::uint64_t>(raw.st_size),
          .blocks = static_cast<std::uint64_t>(raw.st_blocks),
          .inode = raw.st_ino,
          .modified_ns = nanoseconds(raw.st_mtim),
          .changed_ns = nanoseconds(raw.st_ctim)};
}

Error behind_a_link(const char* call, const std::filesystem::path& path) {
  return Error(Errc::not_found, action(call, path) + ": a symbolic link is in the way");
}

/// The errno, or 0.
int unlink_at(const ParentAt& parent, int flags) {
  if (parent.error_number() != 0) return parent.error_number();
  return ::unlinkat(parent.directory(), parent.name(), flags) == 0 ? 0 : errno;
}

}  // namespace

Result<UniqueFd> PosixDisk::open_regular(const std::filesystem::path& path, int flags) {
  // O_NONBLOCK: a FIFO in our folder must not hang a thread. It means nothing for regular files.
  auto file = open_at(folders_.at(path), flags | O_NOFOLLOW | O_NONBLOCK);
  if (!file && (errno == ELOOP || errno == ENXIO || errno == EISDIR)) {
    return Error(Errc::not_found, action("open", path) + ": not a regular file");
  }
  if (!file) return Error::from_errno(action("open", path), errno);
  struct stat raw = {};
  if (::fstat(file.get(), &raw) != 0) return Error::from_errno(action("stat", path), errno);
  if (!S_ISREG(raw.st_mode)) {
    return Error(Errc::not_found, action("open", path) + ": not a regular file");
  }
  return file;
}

Result<UniqueFd> PosixDisk::create(const std::filesystem::path& path) {
  auto file = open_at(folders_.at(path), O_RDWR | O_CREAT | O_EXCL, kFileMode);
  if (!file) return Error::from_errno(action("create", path), errno);
  return file;
}

Result<UniqueFd> PosixDisk::open(const std::filesystem::path& path) {
  return open_regular(path, O_RDWR);
}

Result<UniqueFd> PosixDisk::open_for_reading(const std::filesystem::path& path) {
  return open_regular(path, O_RDONLY);
}

Result<FileStat> PosixDisk::stat(const UniqueFd& file) {
  struct stat raw = {};
  if (::fstat(file.get(), &raw) != 0) return Error::from_errno("fstat", errno);
  return to_file_stat(raw);
}

Result<FileStat> PosixDisk::stat(const std::filesystem::path& path) {
  // There is no stat(2) that can be told to follow no link on the way.
  const auto handle = open_at(folders_.at(path), O_PATH | O_NOFOLLOW);
  if (!handle && errno == ELOOP) return behind_a_link("stat", path);
  if (!handle) return Error::from_errno(action("stat", path), errno);
  struct stat raw = {};
  if (::fstat(handle.get(), &raw) != 0) return Error::from_errno(action("stat", path), errno);
  if (!S_ISREG(raw.st_mode)) {
    return Error(Errc::not_found, action("stat", path) + ": not a regular file");
  }
  return to_file_stat(raw);
}

Result<> PosixDisk::write(const UniqueFd& file, std::span<const std::byte> bytes,
                          std::uint64_t offset) {
  while (!bytes.empty()) {
    const auto written =
        ::pwrite(file.get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return Error::from_errno("write", errno);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return {};
}

Result<std::size_t> PosixDisk::read(const UniqueFd& file, std::span<std::byte> bytes,
                                    std::uint64_t offset) {
  std::size_t filled = 0;
  while (filled < bytes.size()) {
    const auto count = ::pread(file.get(), bytes.data() + filled, bytes.size() - filled,
                               static_cast<off_t>(offset + filled));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("read", errno);
    if (count == 0) break;
    filled += static_cast<std::size_t>(count);
  }
  return filled;
}

Result<> PosixDisk::truncate(const UniqueFd& file, std::uint64_t size_bytes) {
  if (::ftruncate(file.get(), static_cast<off_t>(size_bytes)) != 0) {
    return Error::from_errno("truncate", errno);
  }
  return {};
}

void PosixDisk::start_writeback(const UniqueFd& file, std::uint64_t offset, std::uint64_t length) {
  // A hint: the sync that follows reports what went wrong.
  (void)::sync_file_range(file.get(), static_cast<off64_t>(offset), static_cast<off64_t>(length),
                          SYNC_FILE_RANGE_WRITE);
}

Result<> PosixDisk::sync_data(const UniqueFd& file) {
  if (::fdatasync(file.get()) != 0) return Error::from_errno("fdatasync", errno);
  return {};
}

Result<> PosixDisk::sync_directory(const std::filesystem::path& path) {
  auto directory = open_directory(path);
  if (!directory) return std::move(directory).error();
  if (::fsync(directory->get()) != 0) return Error::from_errno(action("fsync", path), errno);
  return {};
}

Result<> PosixDisk::sync_filesystem(const UniqueFd& directory) {
  if (::syncfs(directory.get()) != 0) return Error::from_errno("syncfs", errno);
  return {};
}

Result<> PosixDisk::rename(const std::filesystem::path& from, const std::filesystem::path& to) {
  const ParentAt source(folders_.at(from));
  const ParentAt target(folders_.at(to));
  auto failed = source.error_number() != 0 ? source.error_number() : target.error_number();
  if (failed == 0 &&
      ::renameat(source.directory(), source.name(), target.directory(), target.name()) != 0) {
    failed = errno;
  }
  if (failed == 0) return {};
  return Error::from_errno(action("rename", from) + " to " + to.string(), failed);
}

Result<> PosixDisk::remove_file(const std::filesystem::path& path) {
  const auto failed = unlink_at(ParentAt(folders_.at(path)), 0);
  // What a link leads to is not ours: nothing of this name is here.
  if (failed == 0 || failed == ENOENT || failed == ELOOP) return {};
  return Error::from_errno(action("unlink", path), failed);
}

Result<> PosixDisk::remove_directory(const std::filesystem::path& path) {
  const auto failed = unlink_at(ParentAt(folders_.at(path)), AT_REMOVEDIR);
  if (failed == 0 || failed == ENOENT || failed == ELOOP) return {};
  if (failed == ENOTEMPTY || failed == EEXIST) return {};
  return Error::from_errno(action("rmdir", path), failed);
}

Result<bool> PosixDisk::make_directory(const std::filesystem::path& path) {
  const ParentAt parent(folders_.at(path));
  auto failed = parent.error_number();
  if (failed == 0 && ::mkdirat(parent.directory(), parent.name(), kDirectoryMode) == 0) return true;
  if (failed == 0) failed = errno;
  if (failed == EEXIST) return false;
  return Error::from_errno(action("mkdir", path), failed);
}

Result<UniqueFd> PosixDisk::open_directory(const std::filesystem::path& path) {
  auto directory = open_at(folders_.at(path), O_RDONLY | O_DIRECTORY);
  if (!directory && errno == ELOOP) return behind_a_link("open", path);
  if (!directory) return Error::from_errno(action("open", path), errno);
  return directory;
}

Result<std::vector<DirectoryEntry>> PosixDisk::list(const std::filesystem::path& path) {
  auto opened = open_directory(path);
  if (!opened) return std::move(opened).error();
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::fdopendir(opened->get()), ::closedir);
  if (!directory) return Error::from_errno(action("opendir", path), errno);
  (void)opened->release();  // closedir(3) closes it.
  std::vector<DirectoryEntry> entries;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(directory.get());
    if (entry == nullptr) break;
    std::string name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat raw = {};
    if (::fstatat(::dirfd(directory.get()), name.c_str(), &raw, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;  // Gone since, or not ours to see.
    }
    entries.push_back({.name = std::move(name),
                       .regular_file = S_ISREG(raw.st_mode),
                       .directory = S_ISDIR(raw.st_mode)});
  }
  if (errno != 0) return Error::from_errno(action("readdir", path), errno);
  return entries;
}

}  // namespace orlop
