#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/disk.h"
#include "core/metainfo.h"

namespace orlop {

/// Reads a blob that nobody vouches for, and hands out only bytes whose pieces have the sums of the
/// metainfo. CRC-32 finds every flipped bit, truncation and run of zeros; it does not stand against
/// somebody who makes bytes to fit. SHA-256 does, and follows (origin/verifications.h).
///
/// Bytes are compared in memory and handed out from there, so what is sent is what was compared,
/// also if the file changes meanwhile. One thread at a time; blocks on the disk.
class CheckedReader {
 public:
  /// Pieces shorter than this are read together.
  static constexpr std::uint64_t kWindowBytes = 1 << 20;

  /// What reading takes in memory: a window of whole pieces.
  static std::uint64_t window_bytes(const MetaInfo& metainfo);

  /// `disk` outlives it. `metainfo` is not null.
  CheckedReader(Disk& disk, SharedMetaInfo metainfo);

  const MetaInfo& metainfo() const { return *metainfo_; }

  /// The bytes from `offset` to the end of its window, good until the next call. `corrupt` if a
  /// piece of the window is not what the metainfo says, or the file is too short for it. A window
  /// that is in memory is not read again. Pre: `offset` is inside the blob; always the same `file`.
  Result<std::span<const std::byte>> read(const UniqueFd& file, std::uint64_t offset);

 private:
  Result<> load(const UniqueFd& file, std::uint64_t start, std::uint64_t length);

  Disk& disk_;
  SharedMetaInfo metainfo_;  // Shared with whoever looked it up.
  std::uint64_t window_bytes_;
  std::uint64_t start_ = 0;
  std::vector<std::byte> window_;  ///< The compared bytes from `start_` on; empty: none yet.
};

}  // namespace orlop
