#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "base/tally.h"

namespace orlop {

/// What statvfs(3) says of a file system, in the parts that we use.
struct SpaceUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< For us: without what is reserved for root.
  /// How many more files and folders fit. Nothing where the file system sets no limit (btrfs).
  std::optional<std::uint64_t> free_inodes = std::nullopt;

  std::uint64_t used_bytes() const { return total_bytes - std::min(free_bytes, total_bytes); }
  /// 0 to 100, rounded up: 100 means full.
  int used_percent() const;
};

Result<SpaceUse> space_use(const std::filesystem::path& path);

/// What has to stay free of it: `free_bytes_min`, or if there is none the smaller of 256 MiB and a
/// tenth of the file system.
std::uint64_t space_floor(const SpaceUse& use, std::optional<std::uint64_t> free_bytes_min);

class FreeSpace;

/// The bytes of a file system that are promised to one upload and not written yet: a number, not
/// an allocation. What is promised to one is not promised to another (FreeSpace::reserve).
///
/// A default-made one belongs to no file system: it holds nothing and refuses nothing. Gives back
/// what it holds when it is destroyed. Safe from any thread, except that it is moved before it is
/// shared. Its FreeSpace outlives it.
class Reservation {
 public:
  Reservation() = default;
  Reservation(Reservation&& other) noexcept { take(other); }
  Reservation& operator=(Reservation&& other) noexcept;
  ~Reservation() { release(); }

  std::uint64_t bytes() const;
  /// Sees to it that the next `bytes` are promised, taking 8 MiB more at a time: for bytes of which
  /// nobody said how many will come. `busy` if there is no space for them. May ask the file system.
  Result<> cover(std::uint64_t bytes);
  /// So many bytes have been written to the file system, whose free space fell by them.
  void written(std::uint64_t bytes);
  /// Gives back what it holds. It may be used again.
  void release();

 private:
  friend class FreeSpace;
  void take(Reservation& other);

  std::atomic<FreeSpace*> space_ = nullptr;
  std::uint64_t bytes_ = 0;  ///< Guarded by the FreeSpace's mutex, as the next.
  bool counted_ = false;     ///< It is one of its holders.
};

/// Shares out the free space of the store's file system among the uploads, so that they are refused
/// before their bytes are sent and not in the middle (design, section 4.2), and never take what
/// must stay free (`store.free_bytes_min`).
///
/// The floor is for the metadata: Debian's RocksDB cannot write any more after it met a full disk
/// (design, section 3). A file system that is nearly out of inodes counts as full too.
///
/// Goes by an answer of the file system that is at most a quarter of a second old, less what was
/// written since; refuses by one that is at most ten milliseconds old, because space may just have
/// become free. Calls may block on statvfs(3), with no lock held. Safe from any thread.
class FreeSpace {
 public:
  /// The floor is space_floor().
  FreeSpace(std::filesystem::path path, const Clock& clock,
            std::optional<std::uint64_t> free_bytes_min);

  /// Makes `reservation` hold at least `bytes`. `busy`, and nothing changes, if what is promised to
  /// all would then leave less than the floor. What is promised already is only refused when the
  /// floor itself is reached.
  Result<> reserve(Reservation& reservation, std::uint64_t bytes);
  /// How often it said `busy` since the start.
  std::uint64_t refused() const { return refused_.value(); }

  /// Promised to all uploads and not written yet.
  std::uint64_t reserved_bytes() const;
  /// What has to stay free, as of the last answer; 0 before the first.
  std::uint64_t floor_bytes() const;

 private:
  friend class Reservation;

  Result<> try_reserve(Reservation& reservation, std::uint64_t bytes);
  Result<> refresh(std::chrono::nanoseconds age_max);
  std::optional<Error> refusal(std::uint64_t more_bytes, bool new_holder) const;
  std::uint64_t floor() const;

  const std::filesystem::path path_;
  const Clock& clock_;
  const std::optional<std::uint64_t> free_bytes_min_;
  SharedTally refused_;

  mutable std::mutex mutex_;  // Guards what follows.
  SpaceUse use_;              // By the last answer, less what was written since.
  std::optional<Clock::Steady> asked_at_;
  std::uint64_t written_total_ = 0;
  std::uint64_t reserved_ = 0;
  std::uint64_t holders_ = 0;
};

}  // namespace orlop
