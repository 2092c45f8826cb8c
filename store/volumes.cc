#include "store/volumes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "base/hex.h"
#include "base/log.h"

namespace orlop {
namespace {

namespace fs = std::filesystem;

struct Volume {
  fs::path location;  ///< As configured.
  fs::path folder;    ///< The one that holds shards, without links. Empty: there is none.
  MountId mount;
  std::size_t shards = 0;
};

Error refusal(const std::string& text) {
  return Error(Errc::invalid_argument, "castore.volumes: " + text);
}

Result<Volume> open_volume(const fs::path& location, const fs::path& cache_dir) {
  std::error_code failed;
  // As in Kraken: a disk that is not mounted must not look like one without blobs.
  if (!fs::is_directory(location, failed)) {
    return refusal(location.string() + " is not there, or no folder; is it mounted?");
  }
  Volume volume{.location = location, .folder = {}, .mount = {}};
  const auto folder = location / cache_dir.filename();
  if (!fs::exists(folder, failed)) return volume;
  volume.folder = fs::canonical(folder, failed);
  if (failed) return refusal(folder.string() + ": " + failed.message());
  if (fs::equivalent(volume.folder, cache_dir, failed)) {
    return refusal(folder.string() + " is castore.cache_dir itself");
  }
  const auto mount = mount_of(volume.folder);
  if (!mount) return mount.error();
  const auto around = mount_of(volume.folder.parent_path());
  if (!around) return around.error();
  if (*mount != *around) {
    return refusal(volume.folder.string() +
                   " is a mount of its own, so uploads beside it could not be renamed into it; "
                   "mount the file system at the volume's location");
  }
  volume.mount = *mount;
  return volume;
}

/// The number of the volume that a shard's link leads into.
Result<std::size_t> find_volume(const fs::path& link, const fs::path& target,
                                const std::vector<Volume>& volumes) {
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    if (target.parent_path() != volumes[i].folder) continue;
    if (equal_ignoring_case(target.filename().native(), link.filename().native())) return i;
  }
  return refusal("the shard " + link.string() + " is a link to " + target.string() +
                 ", which is not <location>/" + link.parent_path().filename().string() + "/" +
                 link.filename().string() +
                 " of any volume; name its volume, or put the folder in the link's place");
}

Result<fs::path> target_of(const fs::path& link) {
  std::error_code failed;
  auto target = fs::canonical(link, failed);
  if (!failed && fs::is_directory(target, failed)) return target;
  const auto reason = failed ? failed.message() : "not a folder";
  std::error_code unreadable;
  const auto spelled = fs::read_symlink(link, unreadable);
  return refusal("the shard " + link.string() + " is a link to " + spelled.string() +
                 ", which leads nowhere (" + reason + "); is the volume mounted?");
}

}  // namespace

Result<MountId> mount_of(const fs::path& path) {
  struct statx raw = {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_MNT_ID, &raw) != 0) {
    return Error::from_errno("statx " + path.string(), errno);
  }
  const bool told = (raw.stx_mask & STATX_MNT_ID) != 0;
  return MountId{.device = makedev(raw.stx_dev_major, raw.stx_dev_minor),
                 .mount = told ? raw.stx_mnt_id : 0};
}

Result<Layout> with_linked_shards(Layout layout, std::span<const fs::path> locations) {
  std::vector<Volume> volumes;
  for (const auto& location : locations) {
    auto volume = open_volume(location, layout.cache_dir);
    if (!volume) return std::move(volume).error();
    volumes.push_back(*std::move(volume));
  }

  const auto home = mount_of(layout.cache_dir);
  if (!home) return home.error();
  std::vector<MountId> mounts = {*home};  // By the number of the file system.
  for (unsigned shard = 0; shard < 256; ++shard) {
    const auto byte = static_cast<std::uint8_t>(shard);
    const auto link = layout.cache_dir / to_hex({&byte, 1});
    std::error_code failed;
    if (!fs::is_symlink(fs::symlink_status(link, failed))) continue;
    auto target = target_of(link);
    if (!target) return std::move(target).error();
    const auto number = find_volume(link, *target, volumes);
    if (!number) return number.error();
    auto& volume = volumes[*number];
    const auto mount = mount_of(*target);
    if (!mount) return mount.error();
    if (*mount != volume.mount) return refusal(target->string() + " is a mount of its own");

    const auto known = std::find(mounts.begin(), mounts.end(), volume.mount);
    const auto filesystem = static_cast<std::size_t>(known - mounts.begin());
    if (known == mounts.end()) {
      mounts.push_back(volume.mount);
      layout.volume_upload_dirs.push_back(volume.folder.string() + ".upload");
    }
    layout.linked_shards[byte] = {.folder = *std::move(target), .filesystem = filesystem};
    ++volume.shards;
  }
  for (const auto& volume : volumes) {
    log_info("volume", {{"location", volume.location.string()}, {"shards", volume.shards}});
  }
  return layout;
}

}  // namespace orlop
