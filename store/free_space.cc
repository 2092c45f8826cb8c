#include "store/free_space.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

namespace orlop {
namespace {

constexpr std::uint64_t kFloorBytesMax = 256 << 20;
constexpr auto kAskEvery = std::chrono::milliseconds(250);

}  // namespace

int SpaceUse::used_percent() const {
  if (total_bytes == 0) return 0;
  // In whole numbers: doubles made 101 of a full disk of 140 TB. In KiB where 100 times overflows.
  const std::uint64_t unit = total_bytes >> 57 == 0 ? 1 : 1024;
  const auto total = total_bytes / unit;
  const auto used = total - std::min(free_bytes / unit, total);
  return static_cast<int>((used * 100 + total - 1) / total);
}

Result<SpaceUse> space_use(const std::filesystem::path& path) {
  struct statvfs raw = {};
  if (::statvfs(path.c_str(), &raw) != 0) {
    return Error::from_errno("statvfs " + path.string(), errno);
  }
  // Used plus available, as df(1) counts: what is reserved for root is in neither.
  const auto used = static_cast<std::uint64_t>(raw.f_blocks - raw.f_bfree) * raw.f_frsize;
  const auto free = static_cast<std::uint64_t>(raw.f_bavail) * raw.f_frsize;
  return SpaceUse{.total_bytes = used + free, .free_bytes = free};
}

FreeSpace::FreeSpace(std::filesystem::path path, const Clock& clock,
                     std::optional<std::uint64_t> free_bytes_min)
    : path_(std::move(path)), clock_(clock), free_bytes_min_(free_bytes_min) {}

Result<> FreeSpace::admit(std::uint64_t wanted_bytes) {
  const auto now = clock_.steady();
  bool stale = false;
  {
    const std::lock_guard lock(mutex_);
    stale = !asked_at_ || now - *asked_at_ >= kAskEvery;
    if (stale) asked_at_ = now;  // One asks; the others go by the last answer meanwhile.
  }
  if (stale) {
    const auto use = space_use(path_);
    const std::lock_guard lock(mutex_);
    if (!use) asked_at_.reset();  // The next one asks again: an old answer says nothing.
    if (!use) return use.error();
    use_ = *use;
  }
  const std::lock_guard lock(mutex_);
  const auto floor = free_bytes_min_.value_or(std::min(kFloorBytesMax, use_.total_bytes / 10));
  if (use_.total_bytes == 0) return {};  // Another thread is asking for the first time.
  if (use_.free_bytes >= floor && use_.free_bytes - floor >= wanted_bytes) return {};
  return Error(Errc::busy, "the disk is nearly full: " + std::to_string(use_.free_bytes) +
                               " bytes are free, " + std::to_string(floor) +
                               " must stay free (store.free_bytes_min), " +
                               std::to_string(wanted_bytes) + " more were asked for");
}

}  // namespace orlop
