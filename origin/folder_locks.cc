#include "origin/folder_locks.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <utility>

namespace orlop {

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
