#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "store/layout.h"

namespace orlop {

/// The folders of a layout that are ours to lock, and below which no link is followed. A volume's
/// upload folder is among them once it is there: the daemon's first start with the volume makes it.
std::vector<std::filesystem::path> own_folders(const Layout& layout);

/// Keeps a second process off the data folders, for as long as it lives. The lock is flock(2) on
/// the folders themselves, so it leaves no file behind and ends with the process.
class FolderLocks {
 public:
  /// `busy` if another process has one of them.
  static Result<FolderLocks> acquire(const std::vector<std::filesystem::path>& folders);

 private:
  std::vector<UniqueFd> held_;
};

}  // namespace orlop
