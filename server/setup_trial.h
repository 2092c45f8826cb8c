#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/disk.h"

namespace orlop {

/// What a trial found.
struct TrialResult {
  enum class Kind : std::uint8_t {
    ok,
    warning,  ///< It would start, but perhaps not as meant.
    failure,  ///< It would not start, or not take a blob.
  };
  Kind kind = Kind::ok;
  std::string text;
};

/// A folder and the key that names it.
struct TrialFolder {
  std::string key;
  std::filesystem::path path;
};

/// Tries what the store will do with its folders: makes a file in each, writes it, syncs it, reads
/// it back, renames it, syncs the folder and removes it; renames one from `upload` to `cache`;
/// looks at the free space, of which `free_bytes_min` must be left. Folders that are not there are
/// made for the trial. All of it is gone afterwards. A daemon may be running on the folders.
/// Blocks.
class FolderTrial {
 public:
  explicit FolderTrial(Disk& disk) : disk_(disk) {}

  std::vector<TrialResult> run(const TrialFolder& upload, const TrialFolder& cache,
                               const TrialFolder& database,
                               std::optional<std::uint64_t> free_bytes_min);

 private:
  void try_folder(const TrialFolder& folder);
  void try_rename(const TrialFolder& upload, const TrialFolder& cache);
  void try_space(const TrialFolder& folder, std::optional<std::uint64_t> free_bytes_min);
  Result<> make_folders(const std::filesystem::path& folder);
  Result<> round_trip(const std::filesystem::path& folder);
  void add(TrialResult::Kind kind, std::string text);

  Disk& disk_;
  std::vector<std::filesystem::path> made_;
  std::vector<TrialResult> results_;
};

/// Whether this address and port can be listened on. That somebody listens there already is a
/// warning: it may be the daemon that is about to be replaced.
TrialResult try_address(const std::string& address, std::uint16_t port);

}  // namespace orlop
