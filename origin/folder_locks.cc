#include "origin/folder_locks.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace orlop {

std::vector<std::filesystem::path> own_folders(const Layout& layout) {
  const auto roots = layout.shard_roots();
  std::vector<std::filesystem::path> folders(roots.begin(), roots.end());
  for (std::size_t number = 0; number < layout.filesystem_count(); ++number) {
    const auto& folder = layout.upload_dir_of(number);
    std::error_code unreadable;
    if (number > 0 && !std::filesystem::exists(folder, unreadable)) continue;
    folders.push_back(folder);
  }
  return folders;
}

Result<FolderLocks> FolderLocks::acquire(const std::vector<std::filesystem::path>& folders) {
  FolderLocks locks;
  for (const auto& folder : folders) {
    UniqueFd directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory) return Error::from_errno("open " + folder.string(), errno);
    if (::flock(directory.get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return Error::from_errno("lock " + folder.string(), errno);
      return Error(Errc::busy, folder.string() +
                                   " is in use by another process; stop it, or give this one "
                                   "another folder with --data");
    }
    locks.held_.push_back(std::move(directory));
  }
  return locks;
}

}  // namespace orlop
