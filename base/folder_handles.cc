#include "base/folder_handles.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace orlop {

Result<> FolderHandles::add(const std::filesystem::path& folder) {
  UniqueFd directory(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return Error::from_errno("open " + folder.string(), errno);
  const PathAt itself{.directory = directory.get(), .path = ".", .confined = true};
  if (!open_at(itself, O_PATH | O_DIRECTORY)) {
    // EPERM: seccomp filters that are older than the call answer so (Docker before 20.10).
    const char* hint = errno == ENOSYS || errno == EPERM
                           ? " (Linux 5.6 or later is needed, and a seccomp filter "
                             "that knows this call)"
                           : "";
    return Error::from_errno("openat2 " + folder.string() + hint, errno);
  }
  std::string prefix = folder.string();
  if (!prefix.ends_with('/')) prefix += '/';
  for (auto& handle : handles_) {
    if (handle.prefix != prefix) continue;
    handle.directory = std::move(directory);
    return {};
  }
  handles_.push_back({.prefix = std::move(prefix), .directory = std::move(directory)});
  return {};
}

PathAt FolderHandles::at(const std::filesystem::path& path) const {
  const std::string& text = path.native();
  for (const auto& [prefix, directory] : handles_) {
    if (text.starts_with(prefix)) {
      const char* below = text.c_str() + prefix.size();
      return {.directory = directory.get(), .path = *below == '\0' ? "." : below, .confined = true};
    }
    if (text.size() + 1 == prefix.size() && prefix.starts_with(text)) {
      return {.directory = directory.get(), .path = ".", .confined = true};
    }
  }
  return {.directory = AT_FDCWD, .path = text.c_str(), .confined = false};
}

UniqueFd open_at(const PathAt& at, int flags, mode_t mode) {
  if (!at.confined) return UniqueFd(::openat(at.directory, at.path, flags | O_CLOEXEC, mode));
  open_how how = {};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  how.mode = mode;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS;
  // Debian 12's libc has no wrapper for it.
  return UniqueFd(
      static_cast<int>(::syscall(SYS_openat2, at.directory, at.path, &how, sizeof how)));
}

ParentAt::ParentAt(const PathAt& at) : directory_(at.directory), name_(at.path) {
  const char* last_slash = at.confined ? std::strrchr(at.path, '/') : nullptr;
  if (last_slash == nullptr) return;
  const std::string parent(at.path, last_slash);
  opened_ = open_at({.directory = at.directory, .path = parent.c_str(), .confined = true},
                    O_PATH | O_DIRECTORY);
  if (!opened_) error_number_ = errno;
  directory_ = opened_.get();
  name_ = last_slash + 1;
}

}  // namespace orlop
