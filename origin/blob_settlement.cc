#include "origin/blob_settlement.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <utility>

#include "base/log.h"
#include "origin/catalogue_journal.h"
#include "store/blob_hash.h"

namespace orlop {
namespace {

/// The committer's number is 0. What is recorded here was made durable first, or has no
/// fingerprint, so its "last group" never hides a suspect
/// (docs/decisions/0002-suspects-of-the-last-group.md).
constexpr std::uint32_t kAdopter = 1;

/// Hours since 1970 of a time that a stranger wrote down.
std::uint32_t hour_of(std::int64_t unix_seconds) {
  constexpr std::int64_t kMost = std::numeric_limits<std::uint32_t>::max();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(unix_seconds / 3600, 0, kMost));
}

bool size_recorded(const Inspection& found) {
  return found.record && found.record->size_bytes == found.stat.size_bytes;
}

}  // namespace

Result<Inspection> BlobSettlement::inspect(Digest digest) const {
  auto found = look_at(digest);
  const bool as_recorded =
      found && (found->presence == Presence::here || found->presence == Presence::absent);
  // One has noticed: now everybody looks, also those who would have been answered from memory.
  if (!as_recorded) catalogue_.distrust(digest);
  return found;
}

Result<Inspection> BlobSettlement::look_at(Digest digest) const {
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
  found.presence = Presence::unsettled;
  if (!found.file || !size_recorded(found)) return found;
  if (found.record->fingerprint == fingerprint_of(found.stat)) {
    found.presence = Presence::here;
    return found;
  }
  if (found.stat.size_bytes <= options_.hash_first_bytes_max) return found;
  auto metainfo = catalogue_.metainfo(digest);
  if (!metainfo) return found;
  const bool fits =
      metainfo->size_bytes() == found.stat.size_bytes &&
      std::min(metainfo->piece_length(), found.stat.size_bytes) <= options_.checked_piece_bytes_max;
  if (!fits) return found;
  found.metainfo = std::make_shared<const MetaInfo>(*std::move(metainfo));
  found.presence = Presence::unverified;
  return found;
}

Result<bool> BlobSettlement::settle(Digest digest) {
  auto found = inspect(digest);
  if (!found) return std::move(found).error();
  if (found->presence == Presence::absent) return false;
  if (found->presence == Presence::here) return true;
  return settle_found(digest, *std::move(found), {});
}

Result<bool> BlobSettlement::settle_by_hashing(Digest digest) {
  auto found = inspect(digest);
  if (!found) return std::move(found).error();
  if (found->presence == Presence::absent) return false;
  return settle_found(digest, *std::move(found), {});
}

Result<Presence> BlobSettlement::settle_for_reading(Digest digest) {
  auto found = inspect(digest);
  if (!found) return std::move(found).error();
  if (found->file && !found->record) {
    const auto recorded = record_by_sidecars(digest, *found);
    if (!recorded) return recorded.error();
    found = inspect(digest);
    if (!found) return std::move(found).error();
  }
  if (found->presence != Presence::unsettled) return found->presence;
  const auto here = settle_found(digest, *std::move(found), {});
  if (!here) return here.error();
  return *here ? Presence::here : Presence::absent;
}

Result<Indexed> BlobSettlement::index(Digest digest, const std::stop_token& stop) {
  const auto claim = claims_.try_claim(digest);
  if (!claim) return Indexed::in_use;
  auto found = inspect(digest);
  if (!found) return std::move(found).error();
  if (!found->file) return Indexed::absent;
  if (found->record) return Indexed::known;
  const auto recorded = record_by_sidecars(digest, *found);
  if (!recorded) return recorded.error();
  if (*recorded) return Indexed::recorded;
  const auto here = settle_found(digest, *std::move(found), stop);
  if (!here) return here.error();
  return *here ? Indexed::hashed : Indexed::quarantined;
}

std::optional<Fingerprint> BlobSettlement::verify(Digest digest, const std::stop_token& stop) {
  auto before = inspect(digest);
  if (!before || before->presence != Presence::unverified) return std::nullopt;
  const auto bytes_are = hash(digest, *before, stop);
  if (!bytes_are) {
    if (!stop.stop_requested()) {
      log_warn("blob_not_verified",
               {{"digest", digest.to_string()}, {"reason", bytes_are.error().detail()}});
    }
    return std::nullopt;
  }
  // Whoever has the claim settles the digest too, and reads what is there now.
  const auto claim = claims_.try_claim(digest);
  if (!claim) return std::nullopt;
  auto now = inspect(digest);
  const auto hashed = fingerprint_of(before->stat);
  if (!now || now->presence != Presence::unverified || fingerprint_of(now->stat) != hashed) {
    return std::nullopt;
  }
  const auto here = conclude(digest, *now, *bytes_are);
  if (!here) {
    log_warn("blob_not_verified",
             {{"digest", digest.to_string()}, {"reason", here.error().detail()}});
  }
  return here && *here ? std::optional(hashed) : std::nullopt;
}

Result<bool> BlobSettlement::settle_found(Digest digest, Inspection found,
                                          const std::stop_token& stop) {
  if (!found.file) {
    log_warn("record_without_file_dropped", {{"digest", digest.to_string()}});
    if (auto gone = forget(digest, found.record); !gone) return std::move(gone).error();
    return false;
  }
  const auto bytes_are = hash(digest, found, stop);
  if (!bytes_are) return bytes_are.error();
  return conclude(digest, found, *bytes_are);
}

/// Cut as it is recorded: peers that have the metainfo stay in one torrent.
Result<MetaInfo> BlobSettlement::hash(Digest digest, const Inspection& found,
                                      const std::stop_token& stop) const {
  auto piece_length = piece_lengths_.for_size(found.stat.size_bytes);
  if (size_recorded(found)) {
    if (const auto recorded = catalogue_.metainfo(digest)) piece_length = recorded->piece_length();
  } else if (const auto sidecars = files_.sidecars(digest, found.stat.size_bytes)) {
    if (sidecars->metainfo) piece_length = sidecars->metainfo->piece_length();
  }
  return hash_blob(disk_, found.file, piece_length, stop);
}

/// False if there is no `_torrentmeta` to go by.
Result<bool> BlobSettlement::record_by_sidecars(Digest digest, const Inspection& found) {
  const auto sidecars = files_.sidecars(digest, found.stat.size_bytes);
  if (!sidecars) return sidecars.error();
  if (!sidecars->metainfo) return false;
  auto recorded = adopt(digest, found.stat, *sidecars->metainfo, *sidecars, std::nullopt);
  if (!recorded) return std::move(recorded).error();
  log_info("blob_adopted", {{"digest", digest.to_string()},
                            {"size", found.stat.size_bytes},
                            {"by", "_torrentmeta"},
                            {"pinned", sidecars->pinned()}});
  return true;
}

/// What follows from the hash. All of this may be in the kernel's memory alone: the bytes, their
/// names, the record and what it owes. Whoever is now told "it is here" relies on it, so everything
/// is synced first.
Result<bool> BlobSettlement::conclude(Digest digest, const Inspection& found,
                                      const MetaInfo& bytes_are) {
  if (bytes_are.digest() != digest) {
    if (auto aside = quarantine(digest, found, bytes_are); !aside) return std::move(aside).error();
    return false;
  }
  if (auto synced = sync_file(digest, found.file); !synced) return std::move(synced).error();
  if (size_recorded(found)) {
    if (auto renewed = renew(digest, found, bytes_are); !renewed) {
      return std::move(renewed).error();
    }
    log_info("blob_verified", {{"digest", digest.to_string()}, {"size", bytes_are.size_bytes()}});
  } else {
    const auto sidecars = files_.sidecars(digest, found.stat.size_bytes);
    if (!sidecars) return sidecars.error();
    auto adopted = adopt(digest, found.stat, bytes_are, *sidecars, fingerprint_of(found.stat));
    if (!adopted) return std::move(adopted).error();
    log_info("blob_adopted", {{"digest", digest.to_string()},
                              {"size", bytes_are.size_bytes()},
                              {"by", "SHA-256"},
                              {"pinned", sidecars->pinned()}});
  }
  if (auto synced = catalogue_.sync(); !synced) return std::move(synced).error();
  return true;
}

Result<> BlobSettlement::quarantine(Digest digest, const Inspection& found,
                                    const MetaInfo& bytes_are) {
  log_error("blob_quarantined", {{"digest", digest.to_string()},
                                 {"bytes_are", bytes_are.digest().to_string()},
                                 {"size", found.stat.size_bytes},
                                 {"pinned", found.record && found.record->pinned}});
  if (auto aside = files_.quarantine(digest); !aside) return aside;
  return forget(digest, found.record);
}

/// A blob whose bytes are gone takes with it what was still to be done for it. A replica can come
/// from elsewhere; a write-back that is lost may be the only way in which a backend would ever have
/// got the blob, so it is said once for each namespace.
Result<> BlobSettlement::forget(Digest digest, const std::optional<BlobRecord>& record) {
  if (record && record->pinned) {
    log_error("write_back_lost", {{"digest", digest.to_string()},
                                  {"namespace", "unknown: a Kraken origin had left it pinned"}});
  }
  const auto tasks = catalogue_.tasks(digest);
  if (!tasks) {
    log_error("write_back_lost",
              {{"digest", digest.to_string()}, {"reason", tasks.error().detail()}});
  } else {
    for (const auto& task : *tasks) {
      if (task.kind != TaskKind::write_back) continue;
      log_error("write_back_lost",
                {{"digest", digest.to_string()}, {"namespace", task.name_space}});
    }
  }
  return catalogue_.remove(digest);
}

Result<bool> BlobSettlement::confirm(const MetaInfo& metainfo, const FileStat& hashed) {
  auto found = inspect(metainfo.digest());
  if (!found) return std::move(found).error();
  if (!found->file || fingerprint_of(found->stat) != fingerprint_of(hashed)) return false;
  return conclude(metainfo.digest(), *found, metainfo);
}

Result<> BlobSettlement::set_aside(Digest digest, const MetaInfo& bytes_are) {
  const auto found = inspect(digest);
  if (!found) return found.error();
  return quarantine(digest, *found, bytes_are);
}

Result<> BlobSettlement::renew(Digest digest, const Inspection& found, const MetaInfo& metainfo) {
  // The bytes are right. If the sums are not, they came from a bad sidecar, or were lost.
  const auto recorded = catalogue_.metainfo(digest);
  if (!recorded || recorded->infohash() != metainfo.infohash()) {
    log_warn("metainfo_remade",
             {{"digest", digest.to_string()},
              {"reason", recorded ? "the recorded sums are not those of the right bytes"
                                  : std::string_view(recorded.error().detail())}});
    if (auto put = catalogue_.put_metainfo(metainfo); !put) return put;
  }
  return catalogue_.renew_fingerprint(digest, fingerprint_of(found.stat));
}

Result<> BlobSettlement::adopt(Digest digest, const FileStat& file, const MetaInfo& metainfo,
                               const Sidecars& sidecars, std::optional<Fingerprint> fingerprint) {
  const auto now = std::chrono::system_clock::to_time_t(clock_.wall());
  CommitEntry entry{.blob = {.size_bytes = metainfo.size_bytes(),
                             .blocks = file.blocks,
                             .committed_at = now,
                             .backed = false,
                             .pinned = sidecars.pinned(),
                             .fingerprint = fingerprint},
                    .metainfo = &metainfo,
                    .task = std::nullopt,
                    .digest = digest,
                    .used_hour = std::nullopt};
  if (const auto time = sidecars.last_access_time) entry.used_hour = hour_of(*time);
  return catalogue_.commit({&entry, 1}, kAdopter);
}

Result<> BlobSettlement::sync(Digest digest, const UniqueFd& file) {
  if (auto synced = sync_file(digest, file); !synced) return synced;
  return catalogue_.sync();
}

Result<> BlobSettlement::sync_file(Digest digest, const UniqueFd& file) {
  if (auto synced = disk_.sync_data(file); !synced) return synced;
  for (const auto& folder :
       {layout_.blob_folder(digest), layout_.inner_shard(digest), layout_.outer_shard(digest),
        layout_.outer_shard(digest).parent_path()}) {
    if (auto synced = disk_.sync_directory(folder); !synced) return synced;
  }
  return {};
}

}  // namespace orlop
