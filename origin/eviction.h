#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/worker_pool.h"
#include "metadata/catalogue.h"
#include "metadata/last_access.h"
#include "origin/removal.h"
#include "store/free_space.h"
#include "store/layout.h"

namespace orlop {

/// `castore.cache_cleanup` (docs/configuration.md).
struct EvictionOptions {
  /// Between two looks for blobs that are too old or too long unused.
  std::chrono::nanoseconds interval = std::chrono::minutes(30);
  std::optional<std::chrono::nanoseconds> idle_max;  ///< tti; none: unused blobs stay.
  std::optional<std::chrono::nanoseconds> age_max;   ///< ttl; none: old blobs stay.
  /// Percent of the blobs' file system; 0: no such mark. From `high_percent` on, blobs go until
  /// `low_percent` is reached; without a low mark, those older than `age_max_when_full`.
  int high_percent = 0;
  int low_percent = 0;
  std::chrono::nanoseconds age_max_when_full = std::chrono::hours(1);

  bool does_anything() const { return idle_max || age_max || high_percent > 0; }
};

/// For the log, at the start.
std::string describe(const EvictionOptions& options);

/// Decides which blobs go when space runs short or nobody wants them any more (design, section 6).
/// Removal removes them, and knows which ones may not go.
///
/// The longest unused first, by the hour of their last use; within one hour, the longest here
/// first. A pass begins at the oldest hour that may have something to give, and not with what
/// earlier passes looked at and left; once an hour it looks at everything again, for what has
/// become free to go since. It removes no more than it takes to reach its mark. Hours are those of
/// the age clock (origin/age_clock.h), so steps of the wall clock change nothing.
///
/// Calls block. `run_due` is called by one thread, `reduce_use_to` by any. What it is constructed
/// with outlives it.
class Eviction {
 public:
  using SpaceProbe = std::function<Result<SpaceUse>()>;
  /// Called between pieces of work with how long the last one took: rests, so that eviction never
  /// takes the disk from requests. False: stop.
  using Rest = std::function<bool(std::chrono::nanoseconds worked)>;

  struct Pass {
    std::uint64_t blobs = 0;  ///< That were removed.
    std::uint64_t bytes = 0;
    std::uint64_t examined = 0;  ///< Entries of the catalogue that were looked at.
    std::uint64_t failed = 0;
  };

  /// `space_probe` asks the file system of the cache folder. `ages` is the catalogue's clock.
  Eviction(Removal& removal, Catalogue& catalogue, LastAccess& last_access, WorkerPool& pool,
           const Layout& layout, const Clock& ages, SpaceProbe space_probe,
           const EvictionOptions& options);

  /// Does what is due: clean-up by time at each `interval`, by the marks whenever it is called.
  Result<Pass> run_due(const Rest& rest);

  /// Removes what may go, the longest unused first, until at most `target_percent` of the blobs'
  /// file system is used. The percentage afterwards.
  Task<Result<int>> reduce_use_to(int target_percent);

 private:
  struct Candidate {
    std::int64_t committed_at;
    Digest digest;
  };
  /// Whether a pass has done enough.
  using Enough = std::function<Result<bool>(const Pass&)>;
  struct Sweep;
  struct Reached {
    std::uint32_t hour;  ///< To begin with next time: all before it has been looked at.
    bool end;            ///< All has been looked at, and it is not enough.
  };

  Result<Pass> reach_low_mark(const SpaceUse& use, const Rest& rest);
  Result<Pass> clean_up(bool full, const Rest& rest);
  Result<> remove_idle(Pass& pass, const Rest& rest);
  Result<> remove_old(std::chrono::nanoseconds age_max, Pass& pass, const Rest& rest);
  Result<int> reduce(int target_percent);

  Result<Reached> sweep(std::uint32_t from_hour, std::uint32_t before_hour, Pass& pass,
                        const Enough& enough, const Rest& rest);
  Result<> remove(Digest digest, Pass& pass);
  Result<bool> remove_hour(Sweep& sweep);
  Enough low_mark(const SpaceUse& use, int percent) const;
  std::uint32_t first_hour();
  std::uint32_t hour_before(std::chrono::nanoseconds age) const;

  Removal& removal_;
  Catalogue& catalogue_;
  LastAccess& last_access_;
  WorkerPool& pool_;
  const Layout& layout_;
  const Clock& ages_;
  const SpaceProbe space_probe_;
  const EvictionOptions options_;

  // Of the thread of run_due.
  std::optional<Clock::Steady> cleaned_at_;
  std::optional<Clock::Steady> all_seen_at_;  ///< When a pass last began at the very beginning.
  std::uint32_t bound_hour_ = 0;              ///< What is older has been looked at, and stays.
  bool short_of_space_ = false;               ///< Said so; once is enough.
};

}  // namespace orlop
