#include "metadata/catalogue.h"

#include <algorithm>
#include <limits>
#include <list>

#include "base/log.h"
#include "metadata/access_index.h"
#include "metadata/database.h"
#include "metadata/keys.h"
#include "metadata/metainfo_cache.h"
#include "metadata/rocksdb_error.h"
#include "metadata/usage_merge.h"

namespace orlop {
namespace {

void put(rocksdb::WriteBatch& batch, const OpenDatabase& open, Family family, std::string_view key,
         std::string_view value) {
  batch.Put(open.handle(family), to_slice(key), to_slice(value));
}

void erase(rocksdb::WriteBatch& batch, const OpenDatabase& open, Family family,
           std::string_view key) {
  batch.Delete(open.handle(family), to_slice(key));
}

/// What the digest's record adds to the usage now: nothing if there is none.
Result<UsageDelta> recorded_usage(const OpenDatabase& open, const Digest& digest) {
  rocksdb::PinnableSlice bytes;
  if (auto got = open.get(Family::blobs, digest_key(digest), bytes); !got) {
    if (got.error().code() == Errc::not_found) return UsageDelta{};
    return std::move(got).error();
  }
  const auto record = decode_blob(to_view(bytes));
  if (!record) {  // It must not stand in the way of what replaces it. Its blocks nobody knows.
    log_warn("blob_record_unreadable",
             {{"digest", digest.to_string()}, {"reason", record.error().detail()}});
    return UsageDelta{1, 0};
  }
  return UsageDelta{1, static_cast<std::int64_t>(record->blocks)};
}

void merge_usage(rocksdb::WriteBatch& batch, const OpenDatabase& open, UsageDelta delta) {
  if (delta == UsageDelta{}) return;
  batch.Merge(open.handle(Family::general), to_slice(kUsageKey), encode_usage(delta));
}

/// Removes the blob's tasks of one kind.
Result<> erase_tasks(rocksdb::WriteBatch& batch, const OpenDatabase& open, TaskKind kind,
                     const Digest& digest) {
  const auto prefix = task_prefix(kind, digest);
  const auto tasks = open.scan(Family::tasks);
  for (tasks->Seek(prefix); tasks->Valid() && tasks->key().starts_with(prefix); tasks->Next()) {
    erase(batch, open, Family::tasks, to_view(tasks->key()));
  }
  if (!tasks->status().ok()) return to_error(tasks->status(), "read tasks");
  return {};
}

void check_group(std::span<const CommitEntry> group) {
  std::vector<Digest> digests;
  digests.reserve(group.size());
  for (const auto& entry : group) {
    digests.push_back(entry.digest);
    ORLOP_CHECK(entry.metainfo == nullptr || entry.metainfo->digest() == entry.digest);
    ORLOP_CHECK(!entry.task || entry.task->digest == entry.digest);
    ORLOP_CHECK(entry.blob.blocks <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  }
  std::sort(digests.begin(), digests.end());
  ORLOP_CHECK(std::adjacent_find(digests.begin(), digests.end()) == digests.end());
}

/// Everything of one blob but the usage, which its group adds up.
Result<UsageDelta> put_entry(rocksdb::WriteBatch& batch, const OpenDatabase& open,
                             const CommitEntry& entry, std::uint32_t hour) {
  const auto key = digest_key(entry.digest);
  auto before = recorded_usage(open, entry.digest);
  if (!before) return before;
  const auto use = recorded_use(open, entry.digest);
  if (!use) return use.error();

  put(batch, open, Family::blobs, key, encode_blob(entry.blob));
  if (entry.metainfo != nullptr) {
    put(batch, open, Family::metainfo, key, encode_metainfo(*entry.metainfo));
  }
  if (const auto& task = entry.task) {
    put(batch, open, Family::tasks, task_key(task->kind, task->digest, task->name_space),
        encode_task(*task));
  }
  move_use(batch, open, entry.digest, *use,
           {.last = std::min(entry.used_hour.value_or(hour), hour), .first = hour});
  return UsageDelta{1 - before->blobs,
                    static_cast<std::int64_t>(entry.blob.blocks) - before->blocks};
}

}  // namespace

/// While it lives the records of a digest may change; when it goes, the cache forgets the digest.
class Catalogue::Forgetting {
 public:
  Forgetting(MetaInfoCache* cache, Digest digest) : cache_(cache), digest_(digest) {}
  Forgetting(const Forgetting&) = delete;
  Forgetting& operator=(const Forgetting&) = delete;
  ~Forgetting() {
    if (cache_ != nullptr) cache_->erase(digest_);
  }

 private:
  MetaInfoCache* cache_;
  Digest digest_;
};

Result<std::unique_ptr<Catalogue>> Catalogue::open(CatalogueOptions options) {
  ORLOP_CHECK(options.clock != nullptr);
  auto database = Database::open(
      {.path = options.path, .env = options.env, .reopen_every = options.reopen_every});
  if (!database) return std::move(database).error();
  std::unique_ptr<Catalogue> catalogue(new Catalogue(std::move(options), *std::move(database)));
  if (auto dropped = catalogue->drop_suspects(); !dropped) return std::move(dropped).error();
  return catalogue;
}

Result<std::unique_ptr<Catalogue>> Catalogue::open_read_only(CatalogueOptions options) {
  ORLOP_CHECK(options.clock != nullptr);
  auto database =
      Database::open({.path = options.path, .env = options.env, .mode = OpenMode::read_only});
  if (!database) return std::move(database).error();
  return std::unique_ptr<Catalogue>(new Catalogue(std::move(options), *std::move(database)));
}

Catalogue::Catalogue(CatalogueOptions options, std::unique_ptr<Database> database)
    : options_(std::move(options)), database_(std::move(database)) {}

Catalogue::~Catalogue() = default;

Result<> Catalogue::drop_suspects() {
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  rocksdb::WriteBatch batch;
  const auto groups = (*open)->scan(Family::general);
  const auto prefix = to_slice(kLastGroupPrefix);
  for (groups->Seek(prefix); groups->Valid() && groups->key().starts_with(prefix); groups->Next()) {
    auto digests = to_view(groups->value());
    for (; digests.size() >= Digest::kBytes; digests.remove_prefix(Digest::kBytes)) {
      const auto key = digests.substr(0, Digest::kBytes);
      rocksdb::PinnableSlice bytes;
      if (auto got = (*open)->get(Family::blobs, key, bytes); !got) {
        if (got.error().code() == Errc::not_found) continue;
        return got;
      }
      auto record = decode_blob(to_view(bytes));
      if (!record || !record->fingerprint) continue;  // Not served, or not without a hash.
      record->fingerprint.reset();
      put(batch, **open, Family::blobs, key, encode_blob(*record));
    }
  }
  if (!groups->status().ok()) return to_error(groups->status(), "read last_group");
  // last_group stays: that these files are read again does not make them durable. The next group of
  // their committer does.
  if (batch.Count() == 0) return {};
  log_info("metadata_suspects", {{"blobs", batch.Count()}});
  return (*open)->write(batch, /*synced=*/false);
}

Result<> Catalogue::close_cleanly() {
  std::unique_lock lock(change_mutex_);
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  rocksdb::WriteBatch batch;
  // A committer that has had no group in this process may still have suspects of an earlier one.
  for (const auto& [committer, failed] : unsettled_) {
    if (failed.empty()) erase(batch, **open, Family::general, last_group_key(committer));
  }
  if (auto written = (*open)->write(batch, /*synced=*/false); !written) return written;
  lock.unlock();
  return (*open)->sync();
}

Result<> Catalogue::commit(std::span<const CommitEntry> group, std::uint32_t committer) {
  if (group.empty()) return {};
  check_group(group);
  const auto hour = current_hour();
  std::string digests;
  std::list<Forgetting> forgetting;
  for (const auto& entry : group) {
    digests += digest_key(entry.digest);
    forgetting.emplace_back(options_.metainfo_cache, entry.digest);
  }

  const std::lock_guard lock(change_mutex_);
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  rocksdb::WriteBatch batch;
  UsageDelta total;
  for (const auto& entry : group) {
    const auto delta = put_entry(batch, **open, entry, hour);
    if (!delta) return delta.error();
    total.blobs += delta->blobs;
    total.blocks += delta->blocks;
  }
  merge_usage(batch, **open, total);
  auto& unsettled = unsettled_[committer];
  unsettled += digests;
  put(batch, **open, Family::general, last_group_key(committer), unsettled);
  if (auto written = (*open)->write(batch, /*synced=*/false); !written) return written;
  unsettled.clear();
  return {};
}

Result<> Catalogue::sync() {
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  return (*open)->sync();
}

Result<> Catalogue::put_metainfo(const MetaInfo& metainfo) {
  const auto digest = metainfo.digest();
  const Forgetting forgetting(options_.metainfo_cache, digest);
  std::unique_lock lock(change_mutex_);
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  const auto known = (*open)->has(Family::blobs, digest_key(digest));
  if (!known) return known.error();
  if (!*known) return Error(Errc::not_found, "no blob " + digest.to_string());
  rocksdb::WriteBatch batch;
  put(batch, **open, Family::metainfo, digest_key(digest), encode_metainfo(metainfo));
  if (auto written = (*open)->write(batch, /*synced=*/false); !written) return written;
  lock.unlock();
  return (*open)->sync();
}

Result<> Catalogue::renew_fingerprint(Digest digest, const Fingerprint& fingerprint) {
  return set_fingerprint(digest, fingerprint);
}

Result<> Catalogue::drop_fingerprint(Digest digest) {
  auto dropped = set_fingerprint(digest, std::nullopt);
  if (!dropped && dropped.error().code() == Errc::not_found) return {};
  return dropped;
}

void Catalogue::distrust(Digest digest) const {
  if (options_.metainfo_cache != nullptr) options_.metainfo_cache->erase(digest);
}

Result<> Catalogue::set_fingerprint(Digest digest, const std::optional<Fingerprint>& fingerprint) {
  const Forgetting forgetting(options_.metainfo_cache, digest);
  const std::lock_guard lock(change_mutex_);
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  rocksdb::PinnableSlice bytes;
  if (auto got = (*open)->get(Family::blobs, digest_key(digest), bytes); !got) return got;
  auto record = decode_blob(to_view(bytes));
  if (!record) return std::move(record).error().within("blob record of " + digest.to_string());
  if (record->fingerprint == fingerprint) return {};
  record->fingerprint = fingerprint;
  rocksdb::WriteBatch batch;
  put(batch, **open, Family::blobs, digest_key(digest), encode_blob(*record));
  return (*open)->write(batch, /*synced=*/false);
}

Result<> Catalogue::remove(Digest digest) {
  const Forgetting forgetting(options_.metainfo_cache, digest);
  const std::lock_guard lock(change_mutex_);
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  const auto before = recorded_usage(**open, digest);
  if (!before) return before.error();
  const auto use = recorded_use(**open, digest);
  if (!use) return use.error();

  rocksdb::WriteBatch batch;
  for (const auto kind : {TaskKind::write_back, TaskKind::replicate}) {
    if (auto erased = erase_tasks(batch, **open, kind, digest); !erased) return erased;
  }
  if (*use) erase_use(batch, **open, digest, **use);
  if (before->blobs > 0) {
    erase(batch, **open, Family::blobs, digest_key(digest));
    erase(batch, **open, Family::metainfo, digest_key(digest));
    merge_usage(batch, **open, {-before->blobs, -before->blocks});
  }
  if (batch.Count() == 0) return {};
  return (*open)->write(batch, /*synced=*/false);
}

Result<> Catalogue::add_task(const TaskRecord& task) {
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  rocksdb::WriteBatch batch;
  put(batch, **open, Family::tasks, task_key(task.kind, task.digest, task.name_space),
      encode_task(task));
  if (auto written = (*open)->write(batch, /*synced=*/false); !written) return written;
  return (*open)->sync();
}

Result<> Catalogue::put_scrub(const ScrubRecord& record) {
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  rocksdb::WriteBatch batch;
  put(batch, **open, Family::general, kScrubKey, encode_scrub(record));
  return (*open)->write(batch, /*synced=*/false);
}

Result<> Catalogue::put_index_progress(const IndexProgress& progress) {
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  rocksdb::WriteBatch batch;
  put(batch, **open, Family::general, kIndexerKey, encode_index_progress(progress));
  return (*open)->write(batch, /*synced=*/false);
}

}  // namespace orlop
