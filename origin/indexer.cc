#include "origin/indexer.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <utility>
#include <vector>

#include "base/hex.h"
#include "base/idle_io.h"
#include "base/log.h"
#include "store/blob_files.h"

namespace orlop {
namespace {

using Names = Result<std::vector<DirectoryEntry>>;

constexpr std::uint32_t kInnerShards = 256;
/// After so many blobs at most the database learns how far it is: what a crash repeats.
constexpr std::uint64_t kBlobsBetweenKeeps = 256;
constexpr std::chrono::seconds kRetryEvery{5};

std::string shard_name(std::uint32_t shard) {
  const auto byte = static_cast<std::uint8_t>(shard);
  return to_hex({&byte, 1});
}

/// A digest in this shard: the layout knows where the shard of a digest is.
Digest first_of(std::uint32_t shard) {
  return Digest({static_cast<std::uint8_t>(shard >> 8), static_cast<std::uint8_t>(shard)});
}

/// Kraken's links to its volumes have upper-case names (lib/store/ca_store.go). Not ours to judge.
bool is_volume_name(std::string_view name) {
  const auto upper_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return name.size() == 2 && std::ranges::all_of(name, upper_hex);
}

std::string_view kind_of(const DirectoryEntry& entry) {
  if (entry.directory) return "directory";
  return entry.regular_file ? "file" : "link or special";
}

/// The folder as the operator names it, and which one that is now: its inode stays over restarts
/// and mounts, and is another one after a restored backup.
Result<std::string> identity_of(const std::filesystem::path& folder) {
  struct stat raw = {};
  if (::stat(folder.c_str(), &raw) != 0) {
    return Error::from_errno("stat " + folder.string(), errno);
  }
  return folder.lexically_normal().string() + ":" + std::to_string(raw.st_ino);
}

}  // namespace

Indexer::~Indexer() { stop(); }

void Indexer::start() {
  thread_ = std::thread([this] {
    use_disk_when_idle();
    run();
    pacer_.wait_for_stop();  // So that a node has as many threads early as late.
  });
}

void Indexer::stop() {
  pacer_.stop();
  if (thread_.joinable()) thread_.join();
}

void Indexer::run() {
  while (!load()) {
    if (!pacer_.wait(kRetryEvery)) return;
  }
  if (progress_.over()) return;
  log_progress("indexing_started");
  // What fails here is the database; a file that cannot be read fails alone. Until it is mended,
  // readers who adopt a blob fail too, and say why.
  for (auto walked = walk(); !walked; walked = walk()) {
    log_warn("indexing_waits", {{"reason", walked.error().detail()}});
    if (!pacer_.wait(kRetryEvery)) return;
  }
}

/// False if it cannot be told now.
bool Indexer::load() {
  const auto folder = identity_of(layout_.cache_dir);
  if (!folder) return false;
  auto kept = catalogue_.index_progress();
  if (!kept && kept.error().code() != Errc::not_found && kept.error().code() != Errc::corrupt) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  if (kept && kept->folder == *folder) progress_ = *std::move(kept);
  progress_.folder = *folder;
  at_shard_ = progress_;
  return true;
}

/// Goes on where it is. Success: it is over, or `stop` was called.
Result<> Indexer::walk() {
  {
    const std::lock_guard lock(mutex_);
    progress_ = at_shard_;
  }
  if (auto root = index_root(); !root) return root;
  while (!progress_.over() && !pacer_.stopped()) {
    if (auto indexed = index_outer(progress_.shards_done / kInnerShards); !indexed) return indexed;
  }
  if (auto kept = keep_progress(); !kept) return kept;
  if (!progress_.over()) return {};
  log_progress("indexing_ended");
  return catalogue_.sync();
}

/// Finds the outer shards, and at the beginning names what lies beside them.
Result<> Indexer::index_root() {
  const auto entries = disk_.list(layout_.cache_dir);
  if (!entries) return entries.error();
  for (const auto& entry : *entries) {
    std::uint8_t shard = 0;
    const bool shard_name = from_hex(entry.name, {&shard, 1});
    const bool volume = is_volume_name(entry.name) && !entry.regular_file;
    outer_shards_[shard] |= shard_name && (entry.directory || volume);
    if (volume || (shard_name && entry.directory) || progress_.shards_done > 0) continue;
    note_foreign(layout_.cache_dir / entry.name, kind_of(entry));
  }
  return {};
}

/// The inner shards of one outer shard, from where it is to the last.
Result<> Indexer::index_outer(std::uint32_t outer) {
  const auto path = layout_.outer_shard(first_of(outer * kInnerShards));
  std::array<bool, kInnerShards> there = {};
  const auto entries =
      outer_shards_[outer] ? disk_.list(path) : Names(std::vector<DirectoryEntry>());
  if (entries) {
    for (const auto& entry : *entries) {
      std::uint8_t inner = 0;
      if (entry.directory && from_hex(entry.name, {&inner, 1})) {
        there[inner] = true;
      } else if (progress_.shards_done % kInnerShards == 0) {
        note_foreign(path / entry.name, kind_of(entry));
      }
    }
  } else if (auto left = left_to_its_reader(path, entries.error()); !left) {
    return left;
  }
  while (progress_.shards_done / kInnerShards == outer) {
    const auto shard = progress_.shards_done;
    if (there[shard % kInnerShards]) {
      if (auto indexed = index_inner(shard); !indexed) return indexed;
      if (!pacer_.pause()) return {};  // Perhaps in the middle of the shard: it is walked again.
    }
    {
      const std::lock_guard lock(mutex_);
      ++progress_.shards_done;
      at_shard_ = progress_;
    }
    if (blobs_since_kept_ < kBlobsBetweenKeeps) continue;
    if (auto kept = keep_progress(); !kept) return kept;
  }
  return keep_progress();
}

Result<> Indexer::index_inner(std::uint32_t shard) {
  const auto path = layout_.inner_shard(first_of(shard));
  const auto entries = disk_.list(path);
  if (!entries) return left_to_its_reader(path, entries.error());
  const auto prefix = shard_name(shard >> 8) + shard_name(shard);
  for (const auto& entry : *entries) {
    if (!pacer_.pause()) return {};
    const auto digest = Digest::parse_hex(entry.name);
    if (!digest || !entry.directory || !entry.name.starts_with(prefix)) {
      note_foreign(path / entry.name, kind_of(entry));
      continue;
    }
    if (auto indexed = index_blob(*digest); !indexed) {
      if (auto left = left_to_its_reader(path / entry.name, indexed.error()); !left) return left;
    }
    ++blobs_since_kept_;
  }
  return {};
}

Result<> Indexer::index_blob(Digest digest) {
  const auto record = catalogue_.blob(digest);
  if (record) {  // Whether its file is as recorded, its readers find out.
    count(&IndexProgress::known);
    return {};
  }
  if (record.error().code() != Errc::not_found) return record.error();

  const auto indexed = settlement_.index(digest, pacer_.stop_token());
  if (!indexed && pacer_.stopped()) return {};
  if (!indexed) return indexed.error();
  switch (*indexed) {
    case Indexed::absent: return index_without_data(digest);
    case Indexed::in_use:  // By somebody who is adopting or replacing it.
    case Indexed::known: count(&IndexProgress::known); return {};
    case Indexed::recorded: count(&IndexProgress::recorded); return {};
    case Indexed::hashed: count(&IndexProgress::hashed); return {};
    case Indexed::quarantined: count(&IndexProgress::quarantined); return {};
  }
  ORLOP_UNREACHABLE();
}

/// A folder without a blob in it: what a Kraken origin left behind when it died while it wrote, or
/// evidence of ours, or somebody's mistake.
Result<> Indexer::index_without_data(Digest digest) {
  const auto path = layout_.blob_folder(digest);
  const auto entries = disk_.list(path);
  if (!entries) return entries.error();
  for (const auto& entry : *entries) {
    if (entry.name == "data") {
      note_foreign(path / entry.name, kind_of(entry));
      return {};
    }
    if (entry.name.starts_with(BlobFiles::kEvidencePrefix)) return {};
  }
  count(&IndexProgress::ghosts);
  return {};
}

Result<> Indexer::keep_progress() {
  auto kept = catalogue_.put_index_progress(at_shard_);
  if (kept) blobs_since_kept_ = 0;
  return kept;
}

/// One blob or shard that cannot be read does not hold up the others. But if the database cannot
/// be used now, that is no property of the blob.
Result<> Indexer::left_to_its_reader(const std::filesystem::path& path, const Error& error) {
  if (error.code() == Errc::not_found) return {};  // Gone meanwhile, or never there.
  if (auto writable = catalogue_.writable(); !writable) return writable;
  count(&IndexProgress::unreadable);
  if (++entries_logged_ > kEntriesLoggedMax) return {};
  log_warn("indexing_passed_over", {{"path", path.string()}, {"reason", error.detail()}});
  return {};
}

void Indexer::count(std::uint64_t IndexProgress::*counter) {
  const std::lock_guard lock(mutex_);
  ++(progress_.*counter);
}

void Indexer::note_foreign(const std::filesystem::path& path, std::string_view kind) {
  count(&IndexProgress::foreign);
  if (++entries_logged_ > kEntriesLoggedMax) return;
  log_warn("foreign_entry_in_cache_dir", {{"path", path.string()}, {"kind", kind}});
}

std::string Indexer::status() const {
  const std::lock_guard lock(mutex_);
  const auto number = [](std::uint64_t value) { return std::to_string(value); };
  return std::string("indexing: ") +
         (progress_.over() ? "over" : number(progress_.shards_done) + " of 65536 shards") +
         "; blobs recorded unread " + number(progress_.recorded) + ", hashed " +
         number(progress_.hashed) + ", known before " + number(progress_.known) + ", quarantined " +
         number(progress_.quarantined) + "; ghosts " + number(progress_.ghosts) + ", foreign " +
         number(progress_.foreign) + ", unreadable " + number(progress_.unreadable);
}

IndexProgress Indexer::progress() const {
  const std::lock_guard lock(mutex_);
  return progress_;
}

void Indexer::log_progress(std::string_view event) const {
  log_info(event, {{"shards_done", progress_.shards_done},
                   {"recorded", progress_.recorded},
                   {"hashed", progress_.hashed},
                   {"known", progress_.known},
                   {"quarantined", progress_.quarantined},
                   {"ghosts", progress_.ghosts},
                   {"foreign", progress_.foreign},
                   {"unreadable", progress_.unreadable}});
}

}  // namespace orlop
