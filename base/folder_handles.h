#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"

namespace orlop {

/// Where a system call of the *at kind finds a path.
struct PathAt {
  int directory;     ///< A handle of FolderHandles, or AT_FDCWD.
  const char* path;  ///< Points into the path that was asked for; "." for the folder itself.
  bool confined;     ///< Below one of the folders, so no link on the way may be followed.
};

/// Open handles of folders below which no symbolic link is ever followed, by openat2(2) with
/// RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS. A handle goes on naming its folder whatever happens to
/// the path that once led there, and keeps its file system mounted.
///
/// Paths are compared as they are spelled, without "." and "..". `add` before the object is shared
/// between threads; the rest is safe from any.
class FolderHandles {
 public:
  /// Links on the way to `folder` are the operator's and are followed, now and never again.
  /// `io_error` if this system has no openat2.
  Result<> add(const std::filesystem::path& folder);

  PathAt at(const std::filesystem::path& path) const;

 private:
  struct Handle {
    std::string prefix;  ///< The folder with one '/' at its end.
    UniqueFd directory;
  };

  std::vector<Handle> handles_;  // A few: two, and one or two for each volume.
};

/// openat(2), or openat2(2) where `at` is confined. Empty on failure, and errno says why: ELOOP if
/// a link stands in the way.
UniqueFd open_at(const PathAt& at, int flags, mode_t mode = 0);

/// The folder that a name is in, for the calls that change names: they resolve by themselves
/// whatever path they are given, so a confined one is given the last name only.
class ParentAt {
 public:
  explicit ParentAt(const PathAt& at);

  int error_number() const { return error_number_; }  ///< 0: it is open.
  int directory() const { return directory_; }
  const char* name() const { return name_; }

 private:
  UniqueFd opened_;
  int directory_;
  const char* name_;
  int error_number_ = 0;
};

}  // namespace orlop
