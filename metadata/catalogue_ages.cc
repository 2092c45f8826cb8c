// How long blobs have been here and unused: the catalogue's part of eviction.

#include <algorithm>
#include <limits>
#include <string>

#include "metadata/access_index.h"
#include "metadata/catalogue.h"
#include "metadata/database.h"
#include "metadata/keys.h"
#include "metadata/rocksdb_error.h"

namespace orlop {
namespace {

/// So many accesses are moved under one hold of the mutex: a commit waits for no more reads.
constexpr std::size_t kAccessesAtOnce = 64;

}  // namespace

Result<std::vector<Access>> Catalogue::oldest_accesses(std::uint32_t from_hour,
                                                       std::optional<Digest> after,
                                                       std::size_t limit) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  std::string first;
  append_u32(first, from_hour);
  if (after) first = access_key(from_hour, *after);

  std::vector<Access> found;
  const auto accesses = (*open)->scan(Family::access);
  for (accesses->Seek(first); accesses->Valid() && found.size() < limit; accesses->Next()) {
    const auto key = to_view(accesses->key());
    if (key.size() != kAccessKeyBytes) return Error(Errc::corrupt, "a key in access is cut short");
    if (after && key == first) continue;
    found.push_back({read_u32(key), *digest_from_key(key.substr(4))});
  }
  if (!accesses->status().ok()) return to_error(accesses->status(), "list accesses");
  return found;
}

Result<std::vector<Access>> Catalogue::first_uses(std::optional<Digest> after,
                                                  std::size_t limit) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  std::vector<Access> found;
  const auto uses = (*open)->scan(Family::accessed);
  after ? uses->Seek(to_slice(digest_key(*after))) : uses->SeekToFirst();
  for (; uses->Valid() && found.size() < limit; uses->Next()) {
    const auto digest = digest_from_key(to_view(uses->key()));
    const auto value = to_view(uses->value());
    if (!digest || value.size() != kAccessedBytes) return Error(Errc::corrupt, "accessed");
    if (digest == after) continue;
    found.push_back({read_u32(value.substr(4)), *digest});
  }
  if (!uses->status().ok()) return to_error(uses->status(), "list first uses");
  return found;
}

Result<std::uint32_t> Catalogue::last_use(Digest digest) const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  const auto use = recorded_use(**open, digest);
  if (!use) return use.error();
  if (!*use) return Error(Errc::not_found, "no use of " + digest.to_string());
  return (*use)->last;
}

Result<> Catalogue::record_accesses(std::span<const Access> accesses) {
  const auto now = current_hour();
  while (!accesses.empty()) {
    const auto some = accesses.first(std::min(accesses.size(), kAccessesAtOnce));
    accesses = accesses.subspan(some.size());
    const std::lock_guard lock(change_mutex_);
    auto open = database_->for_writing();
    if (!open) return std::move(open).error();
    rocksdb::WriteBatch batch;
    for (const auto& access : some) {
      const auto use = recorded_use(**open, access.digest);
      if (!use) return use.error();
      if (!*use) continue;  // No record: both come and go in one batch.
      const bool ahead_of_clock = (*use)->last > now;
      if (access.hour < (*use)->last && !ahead_of_clock) continue;
      move_use(batch, **open, access.digest, *use, {.last = access.hour, .first = (*use)->first});
    }
    if (batch.Count() == 0) continue;
    if (auto written = (*open)->write(batch, /*synced=*/false); !written) return written;
  }
  return {};
}

std::uint32_t Catalogue::current_hour() const {
  const auto since_1970 = options_.clock->wall().time_since_epoch();
  const auto hours = std::chrono::duration_cast<std::chrono::hours>(since_1970).count();
  return static_cast<std::uint32_t>(
      std::clamp<std::int64_t>(hours, 0, std::numeric_limits<std::uint32_t>::max()));
}

Result<std::optional<std::uint32_t>> Catalogue::age() const {
  const auto open = database_->for_reading();
  if (!open) return open.error();
  rocksdb::PinnableSlice bytes;
  if (auto got = (*open)->get(Family::general, kAgeKey, bytes); !got) {
    if (got.error().code() == Errc::not_found) return std::optional<std::uint32_t>();
    return std::move(got).error();
  }
  if (bytes.size() != 4) return Error(Errc::corrupt, "age is not a number of 32 bits");
  return std::optional(read_u32(to_view(bytes)));
}

Result<> Catalogue::put_age(std::uint32_t seconds) {
  auto open = database_->for_writing();
  if (!open) return std::move(open).error();
  std::string value;
  append_u32(value, seconds);
  rocksdb::WriteBatch batch;
  batch.Put((*open)->handle(Family::general), to_slice(kAgeKey), to_slice(value));
  return (*open)->write(batch, /*synced=*/false);
}

}  // namespace orlop
