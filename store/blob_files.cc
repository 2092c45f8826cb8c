#include "store/blob_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <system_error>
#include <vector>

namespace orlop {
namespace {

constexpr std::array kSidecars = {kTorrentMetaName, kPersistName, kLastAccessTimeName};

std::string evidence_name(std::uint64_t stamp) {
  return std::string(BlobFiles::kEvidencePrefix) + std::to_string(stamp);
}

/// The times of the evidence in a folder, the oldest first. Names that are not ours do not count.
std::vector<std::uint64_t> evidence_stamps(const std::vector<DirectoryEntry>& entries) {
  // So that one more can be added to any of them, and none is longer than what we write.
  constexpr auto kStampMax = std::uint64_t{1} << 63;
  std::vector<std::uint64_t> stamps;
  for (const auto& entry : entries) {
    std::string_view text = entry.name;
    if (!entry.regular_file || !text.starts_with(BlobFiles::kEvidencePrefix)) continue;
    text.remove_prefix(BlobFiles::kEvidencePrefix.size());
    std::uint64_t stamp = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), stamp);
    const bool whole = failed == std::errc() && end == text.data() + text.size();
    if (whole && stamp < kStampMax && text == std::to_string(stamp)) stamps.push_back(stamp);
  }
  std::sort(stamps.begin(), stamps.end());
  return stamps;
}

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
  const auto folder = layout_.blob_folder(digest);
  auto entries = disk_.list(folder);
  if (!entries) return std::move(entries).error();
  auto stamps = evidence_stamps(*entries);
  const auto since_1970 = clock_.wall().time_since_epoch();
  const auto now = std::chrono::duration_cast<std::chrono::nanoseconds>(since_1970).count();
  auto stamp = static_cast<std::uint64_t>(std::max<std::int64_t>(now, 0));
  // Nobody else adds names to this folder: the caller has the digest's claim.
  if (!stamps.empty()) stamp = std::max(stamp, stamps.back() + 1);
  stamps.push_back(stamp);

  const auto aside = folder / evidence_name(stamp);
  if (auto renamed = disk_.rename(layout_.blob(digest), aside); !renamed) return renamed;
  ++quarantined_;
  if (auto synced = disk_.sync_directory(folder); !synced) return synced;
  for (std::size_t i = 0; i + kEvidenceMax < stamps.size(); ++i) {
    // What cannot be removed now is tried again by the next one.
    (void)disk_.remove_file(folder / evidence_name(stamps[i]));
  }
  return {};
}

}  // namespace orlop
