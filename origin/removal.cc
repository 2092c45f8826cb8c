#include "origin/removal.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"

namespace orlop {
namespace {

constexpr std::size_t kPageBlobs = 1000;
constexpr std::uint64_t kBlockBytes = 512;
/// A century. Longer ages mean the same and would overflow the clock's nanoseconds.
constexpr std::chrono::hours kAgeMax{100 * 366 * 24};

}  // namespace

Task<Result<>> Removal::remove(Digest digest) {
  const auto claim = co_await lookup_.claim(digest);
  if (!claim) co_return claim.error();
  const auto removed = co_await pool_.run_admitted([&] { return remove_claimed(digest); });
  if (!removed) co_return removed.error();
  if (*removed == Outcome::absent) {
    co_return Error(Errc::not_found, digest.to_string() + " is not here");
  }
  deleted_.add();
  co_return Result<>();
}

/// The file goes first, durably, and then the record: a record without a file is dropped by the
/// next look-up, while a file without a record would be adopted again.
Result<Removal::Outcome> Removal::remove_claimed(Digest digest) {
  if (const auto file = files_.stat(digest); !file) {
    if (file.error().code() != Errc::not_found) return file.error();
    // An earlier removal may have failed between its unlink and the sync of it.
    if (auto removed = files_.remove(digest); !removed) return std::move(removed).error();
    if (auto dropped = catalogue_.remove(digest); !dropped) return std::move(dropped).error();
    return Outcome::absent;
  }
  const auto owed = is_owed(digest);
  if (!owed) return owed.error();
  if (*owed) return Error(Errc::pinned, "file is persisted");
  if (auto removed = files_.remove(digest); !removed) return std::move(removed).error();
  if (auto forgotten = catalogue_.remove(digest); !forgotten) return std::move(forgotten).error();
  log_info("blob_removed", {{"digest", digest.to_string()}});
  return Outcome::removed;
}

Result<bool> Removal::is_owed(Digest digest) const {
  const auto record = catalogue_.blob(digest);
  if (record && record->pinned) return true;
  // A record that cannot be read says nothing: removal is the way to be rid of it.
  if (!record && record.error().code() == Errc::busy) return record.error();
  if (!record && record.error().code() == Errc::not_found) {
    // Not adopted yet: what Kraken left beside it counts all the same.
    const auto file = files_.stat(digest);
    if (!file) return file.error();
    const auto sidecars = files_.sidecars(digest, file->size_bytes);
    if (!sidecars) return sidecars.error();
    if (sidecars->pinned()) return true;
  }
  const auto tasks = catalogue_.tasks(digest);
  if (!tasks) return tasks.error();
  return !tasks->empty();
}

Task<Result<Removal::CleanUp>> Removal::remove_older_than(std::chrono::hours age) {
  const auto limit = clock_.wall() - std::clamp(age, -kAgeMax, kAgeMax);
  co_return co_await pool_.run([&] { return clean_up(limit); });
}

Result<Removal::CleanUp> Removal::clean_up(Clock::Wall limit) {
  CleanUp report;
  std::optional<Digest> after;
  for (;;) {
    const auto page = catalogue_.list(after, kPageBlobs);
    if (!page) return page.error();
    if (page->empty()) return report;
    for (const auto& [digest, record] : *page) {
      after = digest;
      if (!may_go(record)) continue;
      const auto removed = remove_if_older(digest, limit);
      if (!removed) {
        report.errors.push_back(digest.hex() + ": " + removed.error().detail());
      } else if (*removed) {
        report.deleted.push_back(digest);
        cleaned_up_.add();
      }
    }
  }
}

/// Kraken counts a blob's age from the last write to its file, which a commit keeps.
Result<bool> Removal::remove_if_older(Digest digest, Clock::Wall limit) {
  const auto claim = claims_.try_claim(digest);
  if (!claim || open_blobs_.is_open(digest)) return false;  // It is in use.
  const auto stat = files_.stat(digest);
  if (!stat && stat.error().code() == Errc::not_found) return false;
  if (!stat) return stat.error();
  const Clock::Wall written{std::chrono::duration_cast<Clock::Wall::duration>(
      std::chrono::nanoseconds(stat->modified_ns))};
  if (written >= limit) return false;
  const auto removed = remove_claimed(digest);
  if (!removed && removed.error().code() == Errc::pinned) return false;
  if (!removed) return removed.error();
  return *removed == Outcome::removed;
}

Result<std::optional<std::uint64_t>> Removal::remove_unused(Digest digest) {
  using Freed = std::optional<std::uint64_t>;
  const auto claim = claims_.try_claim(digest);
  if (!claim) return Freed();
  // Under the claim: whoever opens it from now on waits for us.
  if (open_blobs_.is_open(digest)) return Freed();
  const auto record = catalogue_.blob(digest);
  if (!record && record.error().code() == Errc::not_found) return Freed();
  if (!record) return record.error();
  if (!may_go(*record)) return Freed();
  const auto freed = record->blocks * kBlockBytes;
  const auto removed = remove_claimed(digest);
  if (removed) return *removed == Outcome::removed ? evicted(freed) : Freed();
  if (removed.error().code() == Errc::pinned) return Freed();
  // A catalogue that cannot be written, because the disk is full, must not stop what makes room: a
  // record without a file is dropped by the next look-up.
  const auto file = files_.stat(digest);
  if (!file && file.error().code() == Errc::not_found) return evicted(freed);
  return removed.error();
}

std::optional<std::uint64_t> Removal::evicted(std::uint64_t freed_bytes) {
  evicted_.add();
  evicted_bytes_.add(freed_bytes);
  return freed_bytes;
}

}  // namespace orlop
