#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>

#include "base/clock.h"
#include "base/result.h"

namespace orlop {

/// What statvfs(3) says of a file system, in the parts that we use.
struct SpaceUse {
  std::uint64_t total_bytes = 0;
  std::uint64_t free_bytes = 0;  ///< For us: without what is reserved for root.

  /// 0 to 100, rounded up: 100 means full.
  int used_percent() const;
};

Result<SpaceUse> space_use(const std::filesystem::path& path);

/// Refuses new bytes while the store's file system is nearly full (`store.free_bytes_min`).
///
/// The floor is for the metadata: Debian's RocksDB cannot write any more after it met a full disk
/// (design, section 3). Asks the file system at most four times a second. Safe from any thread.
class FreeSpace {
 public:
  /// Without `free_bytes_min` the floor is the smaller of 256 MiB and a tenth of the file system.
  FreeSpace(std::filesystem::path path, const Clock& clock,
            std::optional<std::uint64_t> free_bytes_min);

  /// `busy` if after `wanted_bytes` more there would be less than the floor.
  Result<> admit(std::uint64_t wanted_bytes);

 private:
  const std::filesystem::path path_;
  const Clock& clock_;
  const std::optional<std::uint64_t> free_bytes_min_;

  std::mutex mutex_;
  SpaceUse use_;
  std::optional<Clock::Steady> asked_at_;
};

}  // namespace orlop
