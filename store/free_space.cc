#include "store/free_space.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "base/check.h"

namespace orlop {
namespace {

constexpr std::uint64_t kFloorBytesMax = 256 << 20;
constexpr std::uint64_t kStepBytes = 8 << 20;
/// An upload is two files, and its commit makes three folders.
constexpr std::uint64_t kInodesOfUpload = 5;
/// For the files of the database.
constexpr std::uint64_t kFloorInodes = 32;
constexpr auto kAskEvery = std::chrono::milliseconds(250);
constexpr auto kAskBeforeRefusal = std::chrono::milliseconds(10);

}  // namespace

int SpaceUse::used_percent() const {
  if (total_bytes == 0) return 0;
  // In whole numbers: doubles made 101 of a full disk of 140 TB. In KiB where 100 times overflows.
  const std::uint64_t unit = total_bytes >> 57 == 0 ? 1 : 1024;
  const auto total = total_bytes / unit;
  const auto used = total - std::min(free_bytes / unit, total);
  return static_cast<int>((used * 100 + total - 1) / total);
}

std::uint64_t space_floor(const SpaceUse& use, std::optional<std::uint64_t> free_bytes_min) {
  return free_bytes_min.value_or(std::min(kFloorBytesMax, use.total_bytes / 10));
}

Result<SpaceUse> space_use(const std::filesystem::path& path) {
  struct statvfs raw = {};
  if (::statvfs(path.c_str(), &raw) != 0) {
    return Error::from_errno("statvfs " + path.string(), errno);
  }
  // Used plus available, as df(1) counts: what is reserved for root is in neither.
  const auto used = static_cast<std::uint64_t>(raw.f_blocks - raw.f_bfree) * raw.f_frsize;
  const auto free = static_cast<std::uint64_t>(raw.f_bavail) * raw.f_frsize;
  SpaceUse use{.total_bytes = used + free, .free_bytes = free};
  if (raw.f_files > 0) use.free_inodes = raw.f_favail;
  return use;
}

Reservation& Reservation::operator=(Reservation&& other) noexcept {
  if (this == &other) return *this;
  release();
  take(other);
  return *this;
}

void Reservation::take(Reservation& other) {
  space_ = other.space_.exchange(nullptr);
  bytes_ = std::exchange(other.bytes_, 0);
  counted_ = std::exchange(other.counted_, false);
}

std::uint64_t Reservation::bytes() const {
  const auto* space = space_.load();
  if (space == nullptr) return 0;
  const std::lock_guard lock(space->mutex_);
  return bytes_;
}

Result<> Reservation::cover(std::uint64_t wanted) {
  auto* space = space_.load();
  if (space == nullptr || bytes() >= wanted) return {};
  // A whole step, or what is needed now where a step does not fit any more.
  if (space->try_reserve(*this, std::max(wanted, kStepBytes))) return {};
  return space->reserve(*this, wanted);
}

void Reservation::written(std::uint64_t count) {
  auto* space = space_.load();
  if (space == nullptr) return;
  const std::lock_guard lock(space->mutex_);
  const auto promised = std::min(count, bytes_);
  bytes_ -= promised;
  space->reserved_ -= promised;
  space->written_total_ += count;
  space->use_.free_bytes -= std::min(count, space->use_.free_bytes);
}

void Reservation::release() {
  auto* space = space_.load();
  if (space == nullptr) return;
  const std::lock_guard lock(space->mutex_);
  space->reserved_ -= std::exchange(bytes_, 0);
  if (!std::exchange(counted_, false)) return;
  --space->holders_;
  // They are a blob's now, as far as the last answer is concerned.
  auto& inodes = space->use_.free_inodes;
  if (inodes) *inodes -= std::min(*inodes, kInodesOfUpload);
}

FreeSpace::FreeSpace(std::filesystem::path path, const Clock& clock,
                     std::optional<std::uint64_t> free_bytes_min)
    : path_(std::move(path)), clock_(clock), free_bytes_min_(free_bytes_min) {}

Result<> FreeSpace::reserve(Reservation& reservation, std::uint64_t bytes) {
  auto reserved = try_reserve(reservation, bytes);
  if (!reserved && reserved.error().code() == Errc::busy) refused_.add();
  return reserved;
}

Result<> FreeSpace::try_reserve(Reservation& reservation, std::uint64_t bytes) {
  if (auto asked = refresh(kAskEvery); !asked) return asked;
  for (bool asked_again = false;; asked_again = true) {
    {
      const std::lock_guard lock(mutex_);
      ORLOP_CHECK(reservation.space_ == nullptr || reservation.space_ == this);
      const auto more = bytes - std::min(bytes, reservation.bytes_);
      auto refused = refusal(more, !reservation.counted_);
      if (!refused) {
        reservation.space_ = this;
        reservation.bytes_ += more;
        reserved_ += more;
        if (!std::exchange(reservation.counted_, true)) ++holders_;
        return {};
      }
      if (asked_again) return *std::move(refused);
    }
    if (auto asked = refresh(kAskBeforeRefusal); !asked) return asked;
  }
}

/// Asks the file system, unless its last answer is younger than `age_max`.
Result<> FreeSpace::refresh(std::chrono::nanoseconds age_max) {
  const auto now = clock_.steady();
  std::uint64_t written_before = 0;
  {
    const std::lock_guard lock(mutex_);
    const bool answered = asked_at_ && use_.total_bytes > 0;
    if (answered && now - *asked_at_ < age_max) return {};
    asked_at_ = now;  // One asks; the others go by the last answer, if there is one, meanwhile.
    written_before = written_total_;
  }
  auto use = space_use(path_);
  const std::lock_guard lock(mutex_);
  if (!use) {
    asked_at_.reset();  // The next one asks again: an old answer says nothing.
    return std::move(use).error();
  }
  // What was written during the call may be in the answer or not.
  use->free_bytes -= std::min(use->free_bytes, written_total_ - written_before);
  use_ = *use;
  return {};
}

std::uint64_t FreeSpace::floor() const { return space_floor(use_, free_bytes_min_); }

/// Why `more_bytes` cannot be promised. Nothing if they can. Under the mutex.
std::optional<Error> FreeSpace::refusal(std::uint64_t more_bytes, bool new_holder) const {
  if (use_.total_bytes == 0) return std::nullopt;  // A file system that does not say.
  const auto least = floor();
  const auto free = use_.free_bytes;
  const bool asks_for_more = more_bytes > 0 || new_holder;
  const auto promised = asks_for_more ? reserved_ : 0;
  if (free < least || free - least < promised || free - least - promised < more_bytes) {
    return Error(Errc::busy, "the disk is nearly full: " + std::to_string(free) +
                                 " bytes are free, " + std::to_string(reserved_) +
                                 " of them are promised to uploads, " + std::to_string(least) +
                                 " must stay free (store.free_bytes_min), and " +
                                 std::to_string(more_bytes) + " more were asked for");
  }
  const auto inodes = kFloorInodes + kInodesOfUpload * (holders_ + 1);
  if (new_holder && use_.free_inodes && *use_.free_inodes < inodes) {
    return Error(Errc::busy, "the disk is nearly full: " + std::to_string(*use_.free_inodes) +
                                 " inodes are free, and " + std::to_string(inodes) +
                                 " are needed for the uploads in progress and one more");
  }
  return std::nullopt;
}

std::uint64_t FreeSpace::reserved_bytes() const {
  const std::lock_guard lock(mutex_);
  return reserved_;
}

std::uint64_t FreeSpace::floor_bytes() const {
  const std::lock_guard lock(mutex_);
  return use_.total_bytes == 0 ? 0 : floor();
}

}  // namespace orlop
