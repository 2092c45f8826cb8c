#include "base/file_system.h"

#include <linux/magic.h>
#include <sys/vfs.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <utility>

namespace orlop {
namespace {

/// statfs(2). Those without a name come from file systems outside the kernel's own list.
constexpr std::array<std::pair<std::uint32_t, std::string_view>, 14> kKinds = {
    {{EXT4_SUPER_MAGIC, "ext4"},
     {XFS_SUPER_MAGIC, "xfs"},
     {BTRFS_SUPER_MAGIC, "btrfs"},
     {TMPFS_MAGIC, "tmpfs"},
     {OVERLAYFS_SUPER_MAGIC, "overlayfs"},
     {NFS_SUPER_MAGIC, "nfs"},
     {F2FS_SUPER_MAGIC, "f2fs"},
     {FUSE_SUPER_MAGIC, "fuse"},
     {CEPH_SUPER_MAGIC, "ceph"},
     {V9FS_MAGIC, "9p"},
     {SMB2_SUPER_MAGIC, "smb"},
     {CIFS_SUPER_MAGIC, "cifs"},
     {RAMFS_MAGIC, "ramfs"},
     {0x2fc12fc1, "zfs"}}};

}  // namespace

std::string file_system_kind(const std::filesystem::path& folder) {
  struct statfs facts = {};
  if (::statfs(folder.c_str(), &facts) != 0) return "unknown";
  const auto magic = static_cast<std::uint32_t>(facts.f_type);
  for (const auto& [number, kind] : kKinds) {
    if (number == magic) return std::string(kind);
  }
  std::array<char, 16> text = {};
  std::snprintf(text.data(), text.size(), "0x%x", magic);
  return text.data();
}

}  // namespace orlop
