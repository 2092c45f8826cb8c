#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/disk.h"

namespace orlop {

/// A snapshot on disk, and the one before it at `<path>.previous`.
///
/// A save is: a temporary file, its sync, the current one becomes the previous one, the new one
/// gets its name, the sync of the folder. A death between two of these leaves the last snapshot
/// that was acknowledged under one of the two names, whole. Blocks. One thread at a time.
class SnapshotFile {
 public:
  /// The folder of `path` has to be there.
  SnapshotFile(Disk& disk, std::filesystem::path path);

  Result<> save(std::span<const std::string_view> parts);

  enum class Generation : std::uint8_t { current, previous };
  /// All bytes of a generation, and zeros behind them that do not count: `padding_bytes`, for a
  /// parser that reads in blocks. `not_found`; `busy` if it is longer than `bytes_max`.
  Result<std::string> read(Generation generation, std::size_t bytes_max, std::size_t padding_bytes);
  /// Renames the current one to `<path>.refused`, for somebody to look at, so that the next save
  /// does not put it in the place of a previous one that is whole.
  Result<> set_aside();

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path beside(const char* extension) const;
  Result<> write(const UniqueFd& file, std::span<const std::string_view> parts);

  Disk& disk_;
  const std::filesystem::path path_;
  std::string staging_;  ///< Small parts on their way: a write a section would be a thousand.
};

}  // namespace orlop
