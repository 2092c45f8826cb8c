#pragma once

#include <filesystem>
#include <string>

namespace orlop {

/// The kind of file system that a folder lies on: "ext4", "xfs", "tmpfs", …; a number in hex for
/// one that is not known here, "unknown" if the system does not say. For people: nothing is decided
/// by it. statfs(2) cannot tell ext2, ext3 and ext4 apart; all are called ext4. Blocks.
std::string file_system_kind(const std::filesystem::path& folder);

}  // namespace orlop
