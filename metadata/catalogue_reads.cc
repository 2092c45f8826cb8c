// The half of the catalogue that only reads: no mutex, one look at one opening of the database.

#include "metadata/catalogue.h"
#include "metadata/database.h"
#include "metadata/keys.h"
#include "metadata/rocksdb_error.h"
#include "metadata/usage_merge.h"

namespace orlop {

Result<> Catalogue::writable() const {
  if (const auto reason = fault()) return cannot_write(*reason);
  return {};
}

std::optional<std::string> Catalogue::fault() const { return database_->fault(); }

Result<BlobRecord> Catalogue::blob(Digest digest) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  rocksdb::PinnableSlice bytes;
  if (auto got = (*open)->get(Family::blobs, digest_key(digest), bytes); !got) {
    return std::move(got).error();
  }
  auto record = decode_blob(to_view(bytes));
  if (!record) return std::move(record).error().within("blob record of " + digest.to_string());
  return record;
}

Result<MetaInfo> Catalogue::metainfo(Digest digest) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  rocksdb::PinnableSlice bytes;
  if (auto got = (*open)->get(Family::metainfo, digest_key(digest), bytes); !got) {
    return std::move(got).error();
  }
  auto metainfo = decode_metainfo(digest, to_view(bytes));
  if (!metainfo) return std::move(metainfo).error().within("metainfo of " + digest.to_string());
  return metainfo;
}

Result<bool> Catalogue::has_task(TaskKind kind, Digest digest, std::string_view name_space) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  return (*open)->has(Family::tasks, task_key(kind, digest, name_space));
}

Result<std::vector<TaskRecord>> Catalogue::tasks(Digest digest) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  std::vector<TaskRecord> found;
  const auto tasks = (*open)->scan(Family::tasks);
  for (const auto kind : {TaskKind::write_back, TaskKind::replicate}) {
    const auto prefix = task_prefix(kind, digest);
    for (tasks->Seek(prefix); tasks->Valid() && tasks->key().starts_with(prefix); tasks->Next()) {
      auto task = decode_task(to_view(tasks->key()), to_view(tasks->value()));
      if (!task) return std::move(task).error().within("task of " + digest.to_string());
      found.push_back(*std::move(task));
    }
    if (!tasks->status().ok()) return to_error(tasks->status(), "read tasks");
  }
  return found;
}

Result<std::uint64_t> Catalogue::count_tasks(TaskKind kind) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  const std::string prefix(1, static_cast<char>(kind));
  std::uint64_t count = 0;
  const auto tasks = (*open)->scan(Family::tasks);
  for (tasks->Seek(prefix); tasks->Valid() && tasks->key().starts_with(prefix); tasks->Next()) {
    ++count;
  }
  if (!tasks->status().ok()) return to_error(tasks->status(), "count tasks");
  return count;
}

Result<IndexProgress> Catalogue::index_progress() const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  rocksdb::PinnableSlice bytes;
  if (auto got = (*open)->get(Family::general, kIndexerKey, bytes); !got) {
    return std::move(got).error();
  }
  return decode_index_progress(to_view(bytes));
}

Result<Usage> Catalogue::usage() const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  rocksdb::PinnableSlice bytes;
  if (auto got = (*open)->get(Family::general, kUsageKey, bytes); !got) {
    if (got.error().code() == Errc::not_found) return Usage{};
    return std::move(got).error();
  }
  const auto sum = decode_usage(to_view(bytes));
  if (!sum) return Error(Errc::corrupt, "usage is not two numbers");
  if (sum->blobs < 0 || sum->blocks < 0) return Error(Errc::corrupt, "usage below zero");
  return Usage{static_cast<std::uint64_t>(sum->blobs), static_cast<std::uint64_t>(sum->blocks)};
}

Result<std::vector<std::pair<Digest, BlobRecord>>> Catalogue::list(std::optional<Digest> after,
                                                                   std::size_t limit) const {
  auto surveyed = survey(after, limit);
  if (!surveyed) return std::move(surveyed).error();
  std::vector<std::pair<Digest, BlobRecord>> found;
  found.reserve(surveyed->size());
  for (auto& [digest, record] : *surveyed) {
    if (!record) return std::move(record).error();
    found.emplace_back(digest, *std::move(record));
  }
  return found;
}

Result<std::vector<SurveyedBlob>> Catalogue::survey(std::optional<Digest> after,
                                                    std::size_t limit) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  std::vector<SurveyedBlob> found;
  const auto blobs = (*open)->scan(Family::blobs);
  after ? blobs->Seek(to_slice(digest_key(*after))) : blobs->SeekToFirst();
  for (; blobs->Valid() && found.size() < limit; blobs->Next()) {
    const auto digest = digest_from_key(to_view(blobs->key()));
    if (!digest) return Error(Errc::corrupt, "a key in blobs is no digest");
    if (digest == after) continue;
    auto record = decode_blob(to_view(blobs->value()));
    if (!record) record = std::move(record).error().within("blob record of " + digest->to_string());
    found.push_back({*digest, std::move(record)});
  }
  if (!blobs->status().ok()) return to_error(blobs->status(), "list blobs");
  return found;
}

Result<std::optional<ScrubRecord>> Catalogue::scrub() const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  rocksdb::PinnableSlice bytes;
  if (auto got = (*open)->get(Family::general, kScrubKey, bytes); !got) {
    if (got.error().code() == Errc::not_found) return std::optional<ScrubRecord>();
    return std::move(got).error();
  }
  auto record = decode_scrub(to_view(bytes));
  if (!record) return std::move(record).error().within("record of the scrub");
  return std::optional(*record);
}

}  // namespace orlop
