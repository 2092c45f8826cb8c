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

Result<UniqueFd> open_regular(const std::filesystem::path& path, int flags) {
  // O_NONBLOCK: a FIFO in our folder must not hang a thread. It means nothing for regular files.
  UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
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

}  // namespace

Result<UniqueFd> PosixDisk::create(const std::filesystem::path& path) {
  UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode));
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
  struct stat raw = {};
  if (::lstat(path.c_str(), &raw) != 0) return Error::from_errno(action("stat", path), errno);
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
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return Error::from_errno(action("rename", from) + " to " + to.string(), errno);
  }
  return {};
}

Result<> PosixDisk::remove_file(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
    return Error::from_errno(action("unlink", path), errno);
  }
  return {};
}

Result<> PosixDisk::remove_directory(const std::filesystem::path& path) {
  if (::rmdir(path.c_str()) != 0 && errno != ENOENT && errno != ENOTEMPTY && errno != EEXIST) {
    return Error::from_errno(action("rmdir", path), errno);
  }
  return {};
}

Result<bool> PosixDisk::make_directory(const std::filesystem::path& path) {
  if (::mkdir(path.c_str(), kDirectoryMode) == 0) return true;
  if (errno == EEXIST) return false;
  return Error::from_errno(action("mkdir", path), errno);
}

Result<UniqueFd> PosixDisk::open_directory(const std::filesystem::path& path) {
  UniqueFd directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Error::from_errno(action("open", path), errno);
  return directory;
}

Result<std::vector<DirectoryEntry>> PosixDisk::list(const std::filesystem::path& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(::opendir(path.c_str()), ::closedir);
  if (!directory) return Error::from_errno(action("opendir", path), errno);
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
