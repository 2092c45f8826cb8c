#include "origin/eviction.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/log.h"

namespace orlop {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kPageEntries = 1000;
/// Blobs of one hour that are put in order at once; some 50 bytes each.
constexpr std::size_t kSortedMax = 65'536;
/// The file system is asked again after so many removals: others use it too.
constexpr std::uint64_t kAskEveryBlobs = 16;
/// Then the disk itself is broken, and the pass ends.
constexpr std::uint64_t kFailuresMax = 10;
constexpr auto kSeeAllEvery = std::chrono::hours(1);
constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

std::string seconds(nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + "s";
}

}  // namespace

std::string describe(const EvictionOptions& options) {
  if (!options.does_anything()) return "off";
  std::string text;
  const auto add = [&text](const std::string& more) { text += (text.empty() ? "" : ", ") + more; };
  if (options.idle_max) add("unused for " + seconds(*options.idle_max));
  if (options.age_max) add("older than " + seconds(*options.age_max));
  const auto high = std::to_string(options.high_percent) + "%";
  if (options.high_percent > 0 && options.low_percent > 0) {
    add("from " + high + " used down to " + std::to_string(options.low_percent) + "%");
  } else if (options.high_percent > 0) {
    add("from " + high + " used older than " + seconds(options.age_max_when_full));
  }
  return text + "; looked for every " + seconds(options.interval);
}

/// One walk through the access index.
struct Eviction::Sweep {
  Pass& pass;
  const Enough& enough;
  const Rest& rest;
  std::vector<Candidate> candidates;  ///< Of one hour, and free to go as far as their records say.
};

Eviction::Eviction(Removal& removal, Catalogue& catalogue, LastAccess& last_access,
                   WorkerPool& pool, const Layout& layout, const Clock& ages,
                   SpaceProbe space_probe, const EvictionOptions& options)
    : removal_(removal),
      catalogue_(catalogue),
      last_access_(last_access),
      pool_(pool),
      layout_(layout),
      ages_(ages),
      space_probe_(std::move(space_probe)),
      options_(options) {}

Result<Eviction::Pass> Eviction::run_due(const Rest& rest) {
  if (!options_.does_anything()) return Pass{};
  const auto use = space_probe_();
  if (!use) return use.error();
  const bool full = options_.high_percent > 0 && use->used_percent() >= options_.high_percent;
  if (full && options_.low_percent > 0) return reach_low_mark(*use, rest);
  short_of_space_ = false;

  const auto now = ages_.steady();
  if (!cleaned_at_) cleaned_at_ = now;  // As in Kraken, the first one comes an interval later.
  if (now - *cleaned_at_ < options_.interval) return Pass{};
  cleaned_at_ = now;
  return clean_up(full, rest);
}

Result<Eviction::Pass> Eviction::reach_low_mark(const SpaceUse& use, const Rest& rest) {
  if (auto flushed = last_access_.flush(); !flushed) return std::move(flushed).error();
  Pass pass;
  const auto enough = low_mark(use, options_.low_percent);
  const auto reached = sweep(first_hour(), kNoLimit, pass, enough, rest);
  if (!reached) return reached.error();
  bound_hour_ = reached->hour;
  if (pass.blobs > 0) {
    log_info("evicted", {{"blobs", pass.blobs},
                         {"bytes", pass.bytes},
                         {"used_percent_before", use.used_percent()},
                         {"low_mark_percent", options_.low_percent}});
  }
  if (reached->end && !short_of_space_) {
    log_warn("low_mark_not_reached", {{"low_mark_percent", options_.low_percent},
                                      {"reason", "what is left may not go, or is not ours"}});
  }
  short_of_space_ = reached->end;
  return pass;
}

/// Done once the bytes that were too many are removed, whenever the file system notices; or
/// earlier, if it says that it has them back.
Eviction::Enough Eviction::low_mark(const SpaceUse& use, int percent) const {
  const auto allowed = use.total_bytes / 100 * static_cast<std::uint64_t>(percent);
  const auto goal = use.used_bytes() - std::min(use.used_bytes(), allowed);
  return [this, goal, percent](const Pass& pass) -> Result<bool> {
    if (pass.bytes >= goal) return true;
    if (pass.blobs % kAskEveryBlobs != 0) return false;
    const auto now = space_probe_();
    if (!now) return now.error();
    return now->used_percent() <= percent;
  };
}

Result<Eviction::Pass> Eviction::clean_up(bool full, const Rest& rest) {
  if (auto flushed = last_access_.flush(); !flushed) return std::move(flushed).error();
  Pass pass;
  if (options_.idle_max) {
    if (auto removed = remove_idle(pass, rest); !removed) return std::move(removed).error();
  }
  const auto age_max = full ? options_.age_max_when_full : options_.age_max;
  if (age_max) {
    if (auto removed = remove_old(*age_max, pass, rest); !removed)
      return std::move(removed).error();
  }
  if (pass.blobs > 0) log_info("cleaned_up", {{"blobs", pass.blobs}, {"bytes", pass.bytes}});
  return pass;
}

/// A blob counts as used until the end of the hour of its last use: late rather than early.
Result<> Eviction::remove_idle(Pass& pass, const Rest& rest) {
  const auto never = [](const Pass&) -> Result<bool> { return false; };
  const auto reached = sweep(first_hour(), hour_before(*options_.idle_max), pass, never, rest);
  if (!reached) return reached.error();
  bound_hour_ = reached->hour;
  return {};
}

/// Age has no index of its own, so this reads on through all that is known, a page at a time.
Result<> Eviction::remove_old(nanoseconds age_max, Pass& pass, const Rest& rest) {
  const auto before_hour = hour_before(age_max);
  std::optional<Digest> after;
  for (;;) {
    const auto begun = ages_.steady();
    const auto page = catalogue_.first_uses(after, kPageEntries);
    if (!page) return page.error();
    for (const auto& [hour, digest] : *page) {
      after = digest;
      ++pass.examined;
      if (hour >= before_hour) continue;
      if (auto removed = remove(digest, pass); !removed) return removed;
    }
    if (page->size() < kPageEntries) return {};
    if (!rest(ages_.steady() - begun)) return {};
  }
}

/// Goes through the entries of [from_hour, before_hour) and removes what may go, until it is
/// enough.
Result<Eviction::Reached> Eviction::sweep(std::uint32_t from_hour, std::uint32_t before_hour,
                                          Pass& pass, const Enough& enough, const Rest& rest) {
  Sweep sweep{.pass = pass, .enough = enough, .rest = rest, .candidates = {}};
  // New entries come into the present hour, so that one is never done with.
  const auto last_bound = std::min(before_hour, catalogue_.current_hour());
  auto hour = from_hour;
  std::optional<Digest> after;
  for (;;) {
    const auto begun = ages_.steady();
    const auto page = catalogue_.oldest_accesses(hour, after, kPageEntries);
    if (!page) return page.error();
    for (const auto& access : *page) {
      const bool over = access.hour >= before_hour;
      if (over || access.hour != hour || sweep.candidates.size() >= kSortedMax) {
        const auto go_on = remove_hour(sweep);
        if (!go_on) return go_on.error();
        if (!*go_on) return Reached{.hour = std::min(hour, last_bound), .end = false};
      }
      if (over) return Reached{.hour = last_bound, .end = true};
      hour = access.hour;
      after = access.digest;
      ++pass.examined;
      // By the marks: what goes from a volume's file system frees nothing on the cache's own.
      if (before_hour == kNoLimit && layout_.filesystem(access.digest) != 0) continue;
      const auto record = catalogue_.blob(access.digest);
      if (!record && record.error().code() == Errc::busy) return record.error();
      if (!record || !removal_.may_go(*record)) continue;
      sweep.candidates.push_back({record->committed_at, access.digest});
    }
    if (page->size() < kPageEntries) {
      const auto go_on = remove_hour(sweep);
      if (!go_on) return go_on.error();
      return Reached{.hour = *go_on ? last_bound : std::min(hour, last_bound), .end = *go_on};
    }
    if (!rest(ages_.steady() - begun)) {
      return Reached{.hour = std::min(hour, last_bound), .end = false};
    }
  }
}

/// Removes the candidates of one hour, the longest here first. False: it is enough, or time to
/// stop.
Result<bool> Eviction::remove_hour(Sweep& sweep) {
  auto candidates = std::exchange(sweep.candidates, {});
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.committed_at, a.digest) < std::tie(b.committed_at, b.digest);
  });
  for (const auto& candidate : candidates) {
    const auto done = sweep.enough(sweep.pass);
    if (!done) return done.error();
    if (*done) return false;
    const auto begun = ages_.steady();
    if (auto removed = remove(candidate.digest, sweep.pass); !removed) {
      return std::move(removed).error();
    }
    if (!sweep.rest(ages_.steady() - begun)) return false;
  }
  return true;
}

/// A blob that cannot be removed must not stand in the way of the others.
Result<> Eviction::remove(Digest digest, Pass& pass) {
  const auto freed = removal_.remove_unused(digest);
  if (!freed) {
    log_warn("eviction_failed",
             {{"digest", digest.to_string()}, {"reason", freed.error().detail()}});
    if (++pass.failed >= kFailuresMax) return freed.error();
  } else if (*freed) {
    ++pass.blobs;
    pass.bytes += **freed;
  }
  return {};
}

Task<Result<int>> Eviction::reduce_use_to(int target_percent) {
  co_return co_await pool_.run([&] { return reduce(target_percent); });
}

Result<int> Eviction::reduce(int target_percent) {
  if (auto flushed = last_access_.flush(); !flushed) return std::move(flushed).error();
  auto use = space_probe_();
  if (!use) return use.error();
  if (use->used_percent() > target_percent) {
    Pass pass;
    const auto enough = low_mark(*use, target_percent);
    const auto at_once = [](nanoseconds) { return true; };  // The operator waits for it.
    const auto swept = sweep(0, kNoLimit, pass, enough, at_once);
    if (!swept) return swept.error();
    use = space_probe_();
    if (!use) return use.error();
  }
  return use->used_percent();
}

std::uint32_t Eviction::first_hour() {
  const auto now = ages_.steady();
  if (!all_seen_at_ || now - *all_seen_at_ >= kSeeAllEvery) {
    all_seen_at_ = now;
    bound_hour_ = 0;
  }
  return bound_hour_;
}

/// The first hour of which not all is `age` ago.
std::uint32_t Eviction::hour_before(nanoseconds age) const {
  const auto then = ages_.wall().time_since_epoch() - age;
  const auto hours = std::chrono::floor<std::chrono::hours>(then).count();
  return static_cast<std::uint32_t>(std::clamp<std::int64_t>(hours, 0, kNoLimit));
}

}  // namespace orlop
