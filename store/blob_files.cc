#include "store/blob_files.h"

#include <array>
#include <string>

namespace orlop {
namespace {

constexpr std::array kSidecars = {kTorrentMetaName, kPersistName, kLastAccessTimeName};

}  // namespace

Result<UniqueFd> BlobFiles::open(Digest digest) const {
  return disk_.open_for_reading(layout_.blob(digest));
}

Result<FileStat> BlobFiles::stat(Digest digest) const { return disk_.stat(layout_.blob(digest)); }

Result<Sidecars> BlobFiles::sidecars(Digest digest, std::uint64_t size_bytes) const {
  return read_sidecars(disk_, layout_.blob_folder(digest), digest, size_bytes);
}

Result<> BlobFiles::remove(Digest digest) {
  const auto folder = layout_.blob_folder(digest);
  const auto found = disk_.stat(layout_.blob(digest));
  if (!found && found.error().code() != Errc::not_found) return found.error();
  if (found) {
    if (auto removed = disk_.remove_file(layout_.blob(digest)); !removed) return removed;
  }
  // Also for a blob that is not there: an earlier call may have failed between unlink and sync.
  for (const auto sidecar : kSidecars) {
    if (auto removed = disk_.remove_file(folder / sidecar); !removed) return removed;
  }
  if (auto synced = disk_.sync_directory(folder); !synced) {
    if (synced.error().code() == Errc::not_found) return {};
    return synced;
  }
  // Not synced: an empty folder that comes back is no blob.
  return disk_.remove_directory(folder);
}

Result<> BlobFiles::quarantine(Digest digest) {
  const auto now = clock_.wall().time_since_epoch();
  const auto stamp = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  const auto folder = layout_.blob_folder(digest);
  const auto aside = folder / ("data.quarantined-" + std::to_string(stamp));
  if (auto renamed = disk_.rename(layout_.blob(digest), aside); !renamed) return renamed;
  return disk_.sync_directory(folder);
}

}  // namespace orlop
