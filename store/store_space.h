#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "base/clock.h"
#include "base/result.h"
#include "core/digest.h"
#include "store/free_space.h"
#include "store/layout.h"

namespace orlop {

/// The free space of each of the layout's file systems. Safe from any thread.
class StoreSpace {
 public:
  /// `layout` and `clock` outlive it. The floor is that of each file system (FreeSpace).
  StoreSpace(const Layout& layout, const Clock& clock, std::optional<std::uint64_t> free_bytes_min)
      : layout_(layout) {
    for (std::size_t number = 0; number < layout.filesystem_count(); ++number) {
      spaces_.emplace_back(layout.upload_dir_of(number), clock, free_bytes_min);
    }
  }

  /// FreeSpace::reserve on the file system of the blob. `busy` also while that of `cache_dir` is
  /// at its floor, which is there for the database.
  Result<> reserve(Digest digest, Reservation& reservation, std::uint64_t bytes) {
    const auto number = layout_.filesystem(digest);
    if (number != 0) {
      Reservation nothing;
      if (auto writable = spaces_[0].reserve(nothing, 0); !writable) return writable;
    }
    return spaces_[number].reserve(reservation, bytes);
  }

  /// Promised to all uploads and not written yet.
  std::uint64_t reserved_bytes() const {
    std::uint64_t sum = 0;
    for (const auto& space : spaces_) sum += space.reserved_bytes();
    return sum;
  }

  /// How often `busy` was said since the start, on all file systems.
  std::uint64_t refused() const {
    std::uint64_t sum = 0;
    for (const auto& space : spaces_) sum += space.refused();
    return sum;
  }

 private:
  const Layout& layout_;
  std::deque<FreeSpace> spaces_;  // A deque: they do not move.
};

}  // namespace orlop
