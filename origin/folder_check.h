#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "core/digest.h"
#include "metadata/catalogue.h"
#include "store/layout.h"

namespace orlop {

/// What can be found wrong with a data folder. docs/operations.md, "Check", says of each what the
/// daemon would do about it and what a person should.
enum class FindingKind : std::uint8_t {
  database_unreadable,  ///< Missing or damaged: the files are looked at on their own.
  record_unreadable,    ///< A blob's record does not decode.
  record_without_file,  ///< The blob is lost.
  wrong_size,           ///< The file is not as long as recorded.
  wrong_bytes,          ///< The file is not what its name says.
  file_unreadable,      ///< The system refuses to read it, or it was not the same twice.
  metainfo_unreadable,  ///< Missing, or it does not decode.
  wrong_metainfo,       ///< Its size or its sums are not those of the bytes.
  file_without_record,  ///< Would be adopted or set aside when it is first asked for.
  quarantined,          ///< Evidence that was set aside earlier.
  upload_leftover,      ///< Half an upload, or something foreign.
  usage_wrong,          ///< The recorded sum is not the sum of the records.
  folder_unreadable,    ///< A folder of the tree cannot be listed.
};
inline constexpr std::size_t kFindingKinds = 13;

/// The stable name, for people and for JSON: "wrong_bytes".
std::string_view to_string(FindingKind kind) noexcept;

struct Finding {
  FindingKind kind;
  std::string subject;  ///< A digest ("sha256:…"), or a path.
  std::string detail;   ///< For people; may quote names from the disk.
};

struct FolderReport {
  std::uint64_t records = 0;
  std::uint64_t files = 0;    ///< Blob files that were read, with a record or without.
  std::uint64_t bytes = 0;    ///< In those.
  std::uint64_t uploads = 0;  ///< In progress: they are no finding.
  std::array<std::uint64_t, kFindingKinds> found{};  ///< By kind.

  std::uint64_t findings() const;
};

struct FolderCheckOptions {
  Layout layout;
  std::filesystem::path database_dir;
  unsigned jobs = 1;  ///< Threads that read and hash. At least 1.
};

/// Looks at a data folder that no daemon uses: whether records, files and sums agree, both ways.
///
/// Changes nothing: no file, and the database is opened for reading only. Holds the folders' locks
/// while it runs. What it is constructed with outlives it.
class FolderCheck {
 public:
  /// Gets each finding when it is made, one at a time, on any thread of the check's.
  using OnFinding = std::function<void(const Finding&)>;

  FolderCheck(Disk& disk, const Clock& clock, FolderCheckOptions options, OnFinding on_finding);

  /// Once. `busy` if a daemon runs on the folders, `not_found` if there are none: then nothing was
  /// looked at. Everything else is a finding. Blocks for as long as reading all blobs takes.
  Result<FolderReport> run();

  struct Progress {
    std::uint64_t bytes_done = 0;
    std::uint64_t bytes_total = 0;  ///< As recorded; 0 if that is not known.
  };
  /// Safe from any thread while `run` runs.
  Progress progress() const { return {bytes_done_, bytes_total_}; }

 private:
  class Steps;

  void open_catalogue();
  void check_records();
  std::optional<SurveyedBlob> next_record();
  void check_record(const SurveyedBlob& blob);
  void check_bytes(const SurveyedBlob& blob, const UniqueFd& file);
  void check_metainfo(const MetaInfo& actual, const Result<MetaInfo>& recorded);

  void check_files();
  void check_outer_shard(const std::filesystem::path& shard);
  void check_folder(Digest digest, const std::filesystem::path& folder);
  void check_unrecorded(Digest digest);
  std::vector<DirectoryEntry> entries_of(const std::filesystem::path& folder);

  void check_uploads();
  void check_upload_dir(const std::filesystem::path& upload_dir);
  void check_usage();

  /// Runs `work` on every thread and waits for all.
  void in_parallel(const std::function<void()>& work) const;
  Result<MetaInfo> hash(const UniqueFd& file, std::uint64_t piece_length);
  void add(FindingKind kind, std::string subject, std::string detail);

  Disk& disk_;
  const Clock& clock_;
  const FolderCheckOptions options_;
  const OnFinding on_finding_;
  std::unique_ptr<Catalogue> catalogue_;  // Null: the database cannot be read.

  std::atomic<std::uint64_t> bytes_done_ = 0;
  std::atomic<std::uint64_t> bytes_total_ = 0;

  std::mutex mutex_;  // Guards what follows.
  FolderReport report_;
  Usage counted_;  ///< What the readable records add up to.
  std::deque<SurveyedBlob> page_;
  std::optional<Digest> surveyed_to_;
  bool surveyed_all_ = false;
};

}  // namespace orlop
