#include "origin/folder_check.h"

#include <algorithm>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/hex.h"
#include "base/log.h"
#include "core/upload_id.h"
#include "origin/folder_locks.h"
#include "store/blob_files.h"
#include "store/blob_hash.h"

namespace orlop {
namespace {

constexpr std::size_t kPageBlobs = 1000;
/// For blobs whose pieces nobody knows: their sums are not looked at.
constexpr std::uint64_t kAnyPieceLength = std::uint64_t{1} << 30;

bool is_shard(const DirectoryEntry& entry) {
  std::uint8_t shard = 0;
  return entry.directory && from_hex(entry.name, {&shard, 1});
}

}  // namespace

std::string_view to_string(FindingKind kind) noexcept {
  switch (kind) {
    case FindingKind::database_unreadable: return "database_unreadable";
    case FindingKind::record_unreadable: return "record_unreadable";
    case FindingKind::record_without_file: return "record_without_file";
    case FindingKind::wrong_size: return "wrong_size";
    case FindingKind::wrong_bytes: return "wrong_bytes";
    case FindingKind::file_unreadable: return "file_unreadable";
    case FindingKind::metainfo_unreadable: return "metainfo_unreadable";
    case FindingKind::wrong_metainfo: return "wrong_metainfo";
    case FindingKind::file_without_record: return "file_without_record";
    case FindingKind::quarantined: return "quarantined";
    case FindingKind::upload_leftover: return "upload_leftover";
    case FindingKind::usage_wrong: return "usage_wrong";
    case FindingKind::folder_unreadable: return "folder_unreadable";
  }
  ORLOP_UNREACHABLE();
}

std::uint64_t FolderReport::findings() const {
  std::uint64_t all = 0;
  for (const auto count : found) all += count;
  return all;
}

/// Counts the bytes for the progress bar.
class FolderCheck::Steps final : public HashSteps {
 public:
  explicit Steps(std::atomic<std::uint64_t>& done) : done_(done) {}

  Result<> before_read(std::uint64_t) override { return {}; }
  void after_read(std::size_t count) override { done_ += count; }

 private:
  std::atomic<std::uint64_t>& done_;
};

FolderCheck::FolderCheck(Disk& disk, const Clock& clock, FolderCheckOptions options,
                         OnFinding on_finding)
    : disk_(disk), clock_(clock), options_(std::move(options)), on_finding_(std::move(on_finding)) {
  ORLOP_CHECK(options_.jobs >= 1);
}

Result<FolderReport> FolderCheck::run() {
  const auto folders = own_folders(options_.layout);
  const auto locks = FolderLocks::acquire(folders);
  if (!locks) return locks.error();
  // As the daemon sees it: what lies behind a link is not there.
  for (const auto& folder : folders) {
    if (auto confined = disk_.confine(folder); !confined) return std::move(confined).error();
  }
  open_catalogue();
  check_records();
  check_files();
  check_uploads();
  check_usage();
  catalogue_.reset();
  return report_;
}

void FolderCheck::open_catalogue() {
  auto opened = Catalogue::open_read_only({.path = options_.database_dir, .clock = &clock_});
  if (!opened) {
    return add(FindingKind::database_unreadable, options_.database_dir.string(),
               opened.error().detail() + "; all files count as without a record");
  }
  catalogue_ = *std::move(opened);
  if (const auto usage = catalogue_->usage()) bytes_total_ = usage->blocks * 512;
}

void FolderCheck::check_records() {
  if (!catalogue_) return;
  in_parallel([this] {
    while (const auto blob = next_record()) check_record(*blob);
  });
}

std::optional<SurveyedBlob> FolderCheck::next_record() {
  std::unique_lock lock(mutex_);
  if (page_.empty() && !surveyed_all_) {
    auto page = catalogue_->survey(surveyed_to_, kPageBlobs);
    if (page) {
      std::move(page->begin(), page->end(), std::back_inserter(page_));
    }
    surveyed_all_ = page_.empty();
    if (!page) {
      lock.unlock();
      add(FindingKind::database_unreadable, options_.database_dir.string(), page.error().detail());
      return std::nullopt;
    }
  }
  if (page_.empty()) return std::nullopt;
  auto blob = std::move(page_.front());
  page_.pop_front();
  surveyed_to_ = blob.digest;
  ++report_.records;
  if (blob.record) {
    ++counted_.blobs;
    counted_.blocks += blob.record->blocks;
  }
  return blob;
}

void FolderCheck::check_record(const SurveyedBlob& blob) {
  const auto name = blob.digest.to_string();
  if (!blob.record) add(FindingKind::record_unreadable, name, blob.record.error().detail());
  const auto file = disk_.open_for_reading(options_.layout.blob(blob.digest));
  if (file) return check_bytes(blob, *file);
  const auto kind = file.error().code() == Errc::not_found ? FindingKind::record_without_file
                                                           : FindingKind::file_unreadable;
  add(kind, name, file.error().detail());
}

void FolderCheck::check_bytes(const SurveyedBlob& blob, const UniqueFd& file) {
  const auto name = blob.digest.to_string();
  const auto recorded = catalogue_->metainfo(blob.digest);
  const auto actual = hash(file, recorded ? recorded->piece_length() : kAnyPieceLength);
  if (!actual) return add(FindingKind::file_unreadable, name, actual.error().detail());
  const bool right = actual->digest() == blob.digest;
  if (blob.record && blob.record->size_bytes != actual->size_bytes()) {
    add(FindingKind::wrong_size, name,
        std::to_string(blob.record->size_bytes) + " bytes are recorded, the file has " +
            std::to_string(actual->size_bytes()) + (right ? ", and they are right" : ""));
  } else if (!right) {
    add(FindingKind::wrong_bytes, name, "the bytes are " + actual->digest().to_string());
  }
  if (!recorded) return add(FindingKind::metainfo_unreadable, name, recorded.error().detail());
  if (!right) return;  // The sums are those of other bytes.
  const bool same = recorded->size_bytes() == actual->size_bytes() &&
                    std::ranges::equal(recorded->piece_sums(), actual->piece_sums());
  if (!same) add(FindingKind::wrong_metainfo, name, "the recorded sums are not those of the bytes");
}

void FolderCheck::check_files() {
  std::vector<std::filesystem::path> shards;
  for (const auto& entry : entries_of(options_.layout.cache_dir)) {
    if (is_shard(entry)) shards.push_back(options_.layout.cache_dir / entry.name);
  }
  for (const auto& [byte, shard] : options_.layout.linked_shards) shards.push_back(shard.folder);
  std::sort(shards.begin(), shards.end());
  std::atomic<std::size_t> next = 0;
  in_parallel([&] {
    for (auto i = next++; i < shards.size(); i = next++) check_outer_shard(shards[i]);
  });
}

void FolderCheck::check_outer_shard(const std::filesystem::path& shard) {
  for (const auto& inner : entries_of(shard)) {
    if (!is_shard(inner)) continue;
    for (const auto& entry : entries_of(shard / inner.name)) {
      const auto digest = Digest::parse_hex(entry.name);
      // What lies elsewhere than where its name belongs is foreign: nobody ever looks there.
      if (!entry.directory || !digest) continue;
      const auto folder = shard / inner.name / entry.name;
      if (folder == options_.layout.blob_folder(*digest)) check_folder(*digest, folder);
    }
  }
}

void FolderCheck::check_folder(Digest digest, const std::filesystem::path& folder) {
  for (const auto& entry : entries_of(folder)) {
    if (!entry.regular_file) continue;
    if (entry.name == "data") check_unrecorded(digest);
    if (entry.name.starts_with(BlobFiles::kEvidencePrefix)) {
      add(FindingKind::quarantined, (folder / entry.name).string(), "set aside earlier");
    }
  }
}

void FolderCheck::check_unrecorded(Digest digest) {
  if (catalogue_) {
    const auto record = catalogue_->blob(digest);
    if (record || record.error().code() != Errc::not_found) return;  // check_records() has it.
  }
  const auto name = digest.to_string();
  const auto file = disk_.open_for_reading(options_.layout.blob(digest));
  if (!file) return add(FindingKind::file_unreadable, name, file.error().detail());
  const auto actual = hash(*file, kAnyPieceLength);
  if (!actual) return add(FindingKind::file_unreadable, name, actual.error().detail());
  if (actual->digest() != digest) {
    return add(FindingKind::wrong_bytes, name,
               "without a record, and the bytes are " + actual->digest().to_string());
  }
  // Without a database that is no news of each single file.
  if (catalogue_) add(FindingKind::file_without_record, name, "the bytes are right");
}

std::vector<DirectoryEntry> FolderCheck::entries_of(const std::filesystem::path& folder) {
  auto entries = disk_.list(folder);
  if (entries) return *std::move(entries);
  add(FindingKind::folder_unreadable, folder.string(), entries.error().detail());
  return {};
}

void FolderCheck::check_uploads() {
  const auto& layout = options_.layout;
  for (std::size_t number = 0; number < layout.filesystem_count(); ++number) {
    const auto& folder = layout.upload_dir_of(number);
    std::error_code unreadable;
    // That of a volume is made by the daemon's first start with it.
    if (number > 0 && !std::filesystem::exists(folder, unreadable)) continue;
    check_upload_dir(folder);
  }
}

void FolderCheck::check_upload_dir(const std::filesystem::path& upload_dir) {
  struct Halves {
    bool upload = false;
    bool session = false;
  };
  std::map<std::string, Halves> uploads;
  for (const auto& entry : entries_of(upload_dir)) {
    std::string_view name = entry.name;
    const bool session = name.ends_with(Layout::kSessionSuffix);
    if (session) name.remove_suffix(Layout::kSessionSuffix.size());
    if (!entry.regular_file || !UploadId::parse(name)) {
      add(FindingKind::upload_leftover, (upload_dir / entry.name).string(),
          "foreign: the daemon leaves it alone");
      continue;
    }
    auto& halves = uploads[std::string(name)];
    (session ? halves.session : halves.upload) = true;
  }
  for (const auto& [name, halves] : uploads) {
    if (halves.upload && halves.session) {
      ++report_.uploads;
      continue;
    }
    add(FindingKind::upload_leftover, (upload_dir / name).string(),
        "half an upload: the next start of the daemon removes it");
  }
}

void FolderCheck::check_usage() {
  // What an unreadable record adds to the sum, nobody knows.
  const auto unreadable = report_.found[static_cast<std::size_t>(FindingKind::record_unreadable)];
  if (!catalogue_ || unreadable > 0) return;
  const auto usage = catalogue_->usage();
  if (usage && *usage == counted_) return;
  const auto text = [](const Usage& use) {
    return std::to_string(use.blobs) + " blobs in " + std::to_string(use.blocks) + " blocks";
  };
  add(FindingKind::usage_wrong, options_.database_dir.string(),
      "recorded are " + (usage ? text(*usage) : usage.error().detail()) + ", the records have " +
          text(counted_));
}

void FolderCheck::in_parallel(const std::function<void()>& work) const {
  std::vector<std::jthread> threads;
  for (unsigned i = 1; i < options_.jobs; ++i) threads.emplace_back(work);
  work();
}

Result<MetaInfo> FolderCheck::hash(const UniqueFd& file, std::uint64_t piece_length) {
  Steps steps(bytes_done_);
  auto metainfo = hash_blob(disk_, file, piece_length, steps);
  if (!metainfo) return metainfo;
  const std::lock_guard lock(mutex_);
  ++report_.files;
  report_.bytes += metainfo->size_bytes();
  return metainfo;
}

void FolderCheck::add(FindingKind kind, std::string subject, std::string detail) {
  const std::lock_guard lock(mutex_);
  ++report_.found[static_cast<std::size_t>(kind)];
  on_finding_({.kind = kind, .subject = std::move(subject), .detail = std::move(detail)});
}

}  // namespace orlop
