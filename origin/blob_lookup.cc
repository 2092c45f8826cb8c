#include "origin/blob_lookup.h"

#include <array>
#include <string>
#include <utility>

#include "base/log.h"
#include "origin/catalogue_journal.h"
#include "store/blob_hash.h"

namespace orlop {
namespace {

/// The committer's number is 0. What is recorded here was made durable first, so its "last group"
/// never hides a suspect (docs/decisions/0002-suspects-of-the-last-group.md).
constexpr std::uint32_t kAdopter = 1;

Error outcome_unknown(Digest digest) {
  return Error(Errc::busy, digest.to_string() + " is being written or verified; ask again");
}

Error absent(Digest digest) { return Error(Errc::not_found, digest.to_string() + " is not here"); }

}  // namespace

Result<BlobLookup::Inspection> BlobLookup::inspect(Digest digest) const {
  Inspection found;
  auto record = catalogue_.blob(digest);
  if (record) {
    found.record = *record;
  } else if (record.error().code() != Errc::not_found) {
    return std::move(record).error();
  }
  auto file = files_.open(digest);
  if (file) {
    found.file = *std::move(file);
    auto stat = disk_.stat(found.file);
    if (!stat) return std::move(stat).error();
    found.stat = *stat;
  } else if (file.error().code() != Errc::not_found) {
    return std::move(file).error();
  }

  if (!found.record && !found.file) return found;
  const bool trusted = found.record && found.file && found.record->fingerprint &&
                       *found.record->fingerprint == fingerprint_of(found.stat) &&
                       found.record->size_bytes == found.stat.size_bytes;
  found.presence = trusted ? Presence::here : Presence::unsettled;
  return found;
}

Task<Result<BlobLookup::Inspection>> BlobLookup::look_up(Digest digest) {
  for (;;) {
    if (const auto pending = claims_.pending(digest)) {
      if (!co_await pending->wait_for(kOutcomeWaitMax)) co_return outcome_unknown(digest);
    }
    auto found = co_await pool_.run([&] { return inspect(digest); });
    if (!found) co_return std::move(found).error();
    // A commit that began meanwhile may have shown us a blob that is not durable yet.
    if (claims_.pending(digest)) continue;
    if (found->presence != Presence::unsettled) co_return *std::move(found);

    const auto claimed = claims_.try_claim(digest);
    if (!claimed) continue;
    const auto settled = co_await pool_.run_admitted([&] { return here_under_claim(digest); });
    if (!settled) co_return settled.error();
  }
}

Task<Result<OpenBlob>> BlobLookup::open(Digest digest) {
  auto found = co_await look_up(digest);
  if (!found) co_return std::move(found).error();
  if (found->presence == Presence::absent) co_return absent(digest);
  OpenBlob blob(digest, found->stat.size_bytes, std::move(found->file));
  if (blob.size_bytes > 0 && blob.size_bytes <= kInlineBytesMax) {
    const auto filled = co_await pool_.run_admitted([&]() -> Result<> {
      blob.bytes.resize(blob.size_bytes);
      const auto count = disk_.read(blob.file, blob.bytes, 0);
      if (!count) return count.error();
      if (*count != blob.size_bytes) return Error(Errc::corrupt, "the file became shorter");
      return {};
    });
    if (!filled) co_return filled.error();
  }
  co_return std::move(blob);
}

Task<Result<BlobRecord>> BlobLookup::stat(Digest digest) {
  auto found = co_await look_up(digest);
  if (!found) co_return std::move(found).error();
  if (found->presence == Presence::absent) co_return absent(digest);
  co_return *found->record;
}

Task<Result<DigestClaims::Claim>> BlobLookup::claim(Digest digest) {
  const auto give_up_at = clock_.steady() + kOutcomeWaitMax;
  for (;;) {
    if (auto claimed = claims_.try_claim(digest)) co_return *std::move(claimed);
    if (const auto pending = claims_.pending(digest)) co_await pending->wait_for(kOutcomeWaitMax);
    if (clock_.steady() >= give_up_at) co_return outcome_unknown(digest);
  }
}

Result<bool> BlobLookup::here_under_claim(Digest digest) {
  auto found = inspect(digest);
  if (!found) return std::move(found).error();
  if (found->presence != Presence::unsettled) return found->presence == Presence::here;
  return settle(digest, *std::move(found));
}

Result<bool> BlobLookup::settle(Digest digest, Inspection found) {
  if (!found.file) {
    log_warn("record_without_file_dropped", {{"digest", digest.to_string()}});
    if (auto removed = catalogue_.remove(digest); !removed) return std::move(removed).error();
    return false;
  }
  auto metainfo = hash_blob(disk_, found.file, piece_lengths_);
  if (!metainfo) return std::move(metainfo).error();
  if (metainfo->digest() == digest) return record_verified(digest, found, *metainfo);

  log_error("blob_quarantined", {{"digest", digest.to_string()},
                                 {"bytes_are", metainfo->digest().to_string()},
                                 {"size", found.stat.size_bytes}});
  if (auto aside = files_.quarantine(digest); !aside) return std::move(aside).error();
  if (auto removed = catalogue_.remove(digest); !removed) return std::move(removed).error();
  return false;
}

/// The bytes are right, but all of this may be in the kernel's memory alone: the bytes, their
/// names, the record and what it owes. Whoever is now told "it is here" relies on it, so everything
/// is synced first.
Result<bool> BlobLookup::record_verified(Digest digest, const Inspection& found,
                                         const MetaInfo& metainfo) {
  if (auto synced = disk_.sync_data(found.file); !synced) return std::move(synced).error();
  if (auto synced = sync_names(digest); !synced) return std::move(synced).error();
  const bool size_was_recorded = found.record && found.record->size_bytes == found.stat.size_bytes;
  auto recorded = size_was_recorded
                      ? catalogue_.renew_fingerprint(digest, fingerprint_of(found.stat))
                      : adopt(digest, found.stat, metainfo);
  if (!recorded) return std::move(recorded).error();
  if (auto synced = catalogue_.sync(); !synced) return std::move(synced).error();
  log_info(size_was_recorded ? "blob_verified" : "blob_adopted",
           {{"digest", digest.to_string()}, {"size", metainfo.size_bytes()}});
  return true;
}

Result<> BlobLookup::adopt(Digest digest, const FileStat& file, const MetaInfo& metainfo) {
  const auto now = std::chrono::system_clock::to_time_t(clock_.wall());
  const std::array entries = {CommitEntry{.blob = {.size_bytes = metainfo.size_bytes(),
                                                   .blocks = file.blocks,
                                                   .committed_at = now,
                                                   .backed = false,
                                                   .fingerprint = fingerprint_of(file)},
                                          .metainfo = &metainfo,
                                          .task = std::nullopt,
                                          .digest = digest}};
  return catalogue_.commit(entries, kAdopter);
}

Result<> BlobLookup::sync_names(Digest digest) {
  for (const auto& folder : {layout_.blob_folder(digest), layout_.inner_shard(digest),
                             layout_.outer_shard(digest), layout_.cache_dir}) {
    if (auto synced = disk_.sync_directory(folder); !synced) return synced;
  }
  return {};
}

}  // namespace orlop
