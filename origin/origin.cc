#include "origin/origin.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/log.h"
#include "store/volumes.h"

namespace orlop {
namespace {

constexpr auto kFlushAccessEvery = std::chrono::minutes(5);
constexpr auto kMaintainEvery = std::chrono::seconds(10);
constexpr auto kLookAtMarksEvery = std::chrono::seconds(10);

/// Makes a folder with its parents, and syncs the names of those it made: acknowledged blobs lie
/// below them.
Result<> make_folders(Disk& disk, const std::filesystem::path& folder) {
  if (folder.empty() || folder == folder.root_path()) return {};
  auto made = disk.make_directory(folder);
  if (!made && made.error().code() == Errc::not_found) {
    if (auto parents = make_folders(disk, folder.parent_path()); !parents) return parents;
    made = disk.make_directory(folder);
  }
  if (!made) return std::move(made).error();
  if (!*made) return {};
  const auto parent = folder.has_parent_path() ? folder.parent_path() : std::filesystem::path(".");
  return disk.sync_directory(parent);
}

/// A commit is a rename, which does not cross from one mount to another.
Result<> check_one_mount(const std::filesystem::path& upload_dir,
                         const std::filesystem::path& shards, const char* names) {
  const auto uploads_on = mount_of(upload_dir);
  if (!uploads_on) return uploads_on.error();
  const auto blobs_on = mount_of(shards);
  if (!blobs_on) return blobs_on.error();
  if (*uploads_on == *blobs_on) return {};
  return Error(Errc::invalid_argument,
               std::string(names) + " (" + upload_dir.string() + " and " + shards.string() +
                   ") are on different file systems or mounts, so a commit could not be a rename; "
                   "put them on one");
}

/// A directory on each file system, for its syncs.
Result<std::vector<UniqueFd>> open_filesystems(Disk& disk, const Layout& layout) {
  std::vector<UniqueFd> roots;
  for (std::size_t number = 0; number < layout.filesystem_count(); ++number) {
    auto root = disk.open_directory(layout.upload_dir_of(number));
    if (!root) return std::move(root).error();
    roots.push_back(*std::move(root));
  }
  return roots;
}

/// Makes the upload folders of volumes, and sees to it that each is where its shards are.
Result<> make_volume_folders(Disk& disk, const Layout& layout) {
  for (const auto& [byte, shard] : layout.linked_shards) {
    if (shard.filesystem == 0) continue;
    const auto& upload_dir = layout.upload_dir_of(shard.filesystem);
    if (auto made = make_folders(disk, upload_dir); !made) return made;
    auto one = check_one_mount(upload_dir, shard.folder, "castore.volumes: uploads and shards");
    if (!one) return one;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<Origin>> Origin::open(OriginOptions options, PieceLengths piece_lengths,
                                             NodeIdentity node, Disk& disk, const Clock& clock,
                                             Random& random) {
  for (const auto& folder :
       {options.layout.upload_dir, options.layout.cache_dir, options.database_dir}) {
    if (auto made = make_folders(disk, folder); !made) return std::move(made).error();
  }
  auto same = check_one_mount(options.layout.upload_dir, options.layout.cache_dir,
                              "castore.upload_dir and castore.cache_dir");
  if (!same) return std::move(same).error();
  auto linked = with_linked_shards(options.layout, options.volumes);
  if (!linked) return std::move(linked).error();
  options.layout = *std::move(linked);
  const auto& layout = options.layout;
  if (auto made = make_volume_folders(disk, layout); !made) return std::move(made).error();

  auto locks = FolderLocks::acquire(own_folders(layout));
  if (!locks) return std::move(locks).error();
  for (const auto& folder : own_folders(layout)) {
    if (auto confined = disk.confine(folder); !confined) return std::move(confined).error();
  }
  auto roots = open_filesystems(disk, layout);
  if (!roots) return std::move(roots).error();

  CommitterOptions committer_options{.durability = options.durability,
                                     .group_sync = options.group_sync};
  const auto database_on = mount_of(options.database_dir);
  if (!database_on) return database_on.error();
  const auto blobs_on = mount_of(layout.cache_dir);
  if (!blobs_on) return blobs_on.error();
  if (database_on->device != blobs_on->device) committer_options.journal_filesystem.reset();

  auto ages = std::make_unique<AgeClock>(clock);
  auto metainfo_cache = std::make_unique<MetaInfoCache>(options.metainfo_cache, random);
  auto catalogue = Catalogue::open(
      {.path = options.database_dir, .clock = ages.get(), .metainfo_cache = metainfo_cache.get()});
  if (!catalogue) return std::move(catalogue).error();
  const auto age = (*catalogue)->age();
  if (!age) return age.error();
  if (*age) ages->resume_at(Clock::Wall(std::chrono::seconds(**age)));

  std::unique_ptr<Origin> origin(
      new Origin(std::move(options), std::move(piece_lengths), std::move(node), disk, clock, random,
                 *std::move(locks), *std::move(roots), std::move(ages), std::move(metainfo_cache),
                 *std::move(catalogue), committer_options));
  if (auto recovered = origin->upload_table_.recover(); !recovered) {
    return std::move(recovered).error();
  }
  origin->indexer_.start();
  return origin;
}

Origin::Origin(OriginOptions options, PieceLengths piece_lengths, NodeIdentity node, Disk& disk,
               const Clock& clock, Random& random, FolderLocks locks, std::vector<UniqueFd> roots,
               std::unique_ptr<AgeClock> ages, std::unique_ptr<MetaInfoCache> metainfo_cache,
               std::unique_ptr<Catalogue> catalogue, CommitterOptions committer_options)
    : options_(std::move(options)),
      piece_lengths_(std::move(piece_lengths)),
      node_(std::move(node)),
      locks_(std::move(locks)),
      ages_(std::move(ages)),
      metainfo_cache_(std::move(metainfo_cache)),
      catalogue_(std::move(catalogue)),
      last_access_(*catalogue_),
      journal_(*catalogue_, clock, options_.durability != Durability::never),
      files_(disk, clock, options_.layout),
      memory_store_(options_.memory_store_bytes_max),
      space_(options_.layout, clock, options_.free_bytes_min),
      upload_table_(disk, clock, random, options_.layout, piece_lengths_, options_.uploads),
      committer_(disk, options_.layout, journal_, std::move(roots), committer_options),
      settlement_(disk, clock, files_, *catalogue_, claims_, piece_lengths_, options_.layout),
      pool_(options_.disk_threads, options_.disk_queue_max),
      lookup_(settlement_, claims_, open_blobs_, disk, clock, pool_),
      listing_(*catalogue_, pool_),
      metainfo_(lookup_, *catalogue_, *metainfo_cache_, memory_store_, files_, disk, piece_lengths_,
                pool_, clock),
      metadata_(metainfo_, *catalogue_, memory_store_),
      uploads_(upload_table_, lookup_, *catalogue_, metainfo_, committer_, space_, pool_, clock,
               {.upload_bytes_max = options_.upload_bytes_max,
                .sync_while_streaming = options_.durability != Durability::never}),
      removal_(lookup_, files_, *catalogue_, claims_, open_blobs_, pool_, clock, options_.removal),
      eviction_(
          removal_, *catalogue_, last_access_, pool_, options_.layout, *ages_,
          [this] { return space_use(options_.layout.cache_dir); }, options_.eviction),
      scrub_(disk, clock, *catalogue_, files_, settlement_, claims_, piece_lengths_, stop_,
             options_.scrub),
      indexer_(disk, *catalogue_, settlement_, options_.layout, options_.indexer),
      maintenance_([this] { maintain(); }),
      eviction_thread_([this] { evict(); }),
      scrubbing_([this] { scrub_.run(); }) {}

Origin::~Origin() {
  indexer_.stop();
  stop_.stop();
  maintenance_.join();
  eviction_thread_.join();
  scrubbing_.join();
  save_ages();
  if (auto flushed = last_access_.flush(); !flushed) {
    log_warn("last_access_not_flushed", {{"reason", flushed.error().detail()}});
  }
  if (auto closed = catalogue_->close_cleanly(); !closed) {
    log_warn("catalogue_not_closed_cleanly",
             {{"reason", closed.error().detail()},
              {"next", "the next start verifies the last commits again"}});
  }
}

std::vector<std::string> Origin::not_ready() const {
  std::vector<std::string> reasons;
  if (const auto fault = catalogue_->fault()) reasons.push_back("metadata: " + *fault);
  return reasons;
}

std::vector<std::string> Origin::status() const {
  const auto usage = catalogue_->usage();
  const auto cached = metainfo_cache_->use();
  return {"metadata: " + catalogue_->fault().value_or("writable"),
          "blobs: " + (usage ? std::to_string(usage->blobs) + " on " +
                                   std::to_string(usage->blocks * 512) + " bytes"
                             : usage.error().detail()),
          "uploads in progress: " + std::to_string(upload_table_.count()),
          "space promised to uploads: " + std::to_string(space_.reserved_bytes()) + " bytes",
          "commits waiting: " + std::to_string(committer_.queued()),
          "disk work waiting or running: " + std::to_string(pool_.queued()),
          "metainfo in memory: " + std::to_string(cached.entries) + " objects on " +
              std::to_string(cached.bytes) + " bytes, and " + std::to_string(cached.retired_bytes) +
              " bytes evicted but still read",
          "blobs waiting to be verified: " + std::to_string(lookup_.verifications_waiting()),
          "blobs quarantined since the start: " + std::to_string(files_.quarantined()),
          scrub_.status(),
          indexer_.status()};
}

/// What is done now and then, on a thread of its own because it blocks.
void Origin::maintain() {
  auto flush_at = std::chrono::steady_clock::now() + kFlushAccessEvery;
  while (!stop_.wait_for(kMaintainEvery)) {
    upload_table_.discard_idle();
    if (std::chrono::steady_clock::now() < flush_at) continue;
    flush_at += kFlushAccessEvery;
    if (auto flushed = last_access_.flush(); !flushed) {
      log_warn("last_access_not_flushed", {{"reason", flushed.error().detail()}});
    }
    save_ages();
  }
}

/// Not on the thread of maintenance: a pass may take long. It rests as long as it worked.
void Origin::evict() {
  if (!options_.eviction.does_anything()) return;
  log_info("eviction", {{"rules", describe(options_.eviction)},
                        {"unbacked_blobs", options_.removal.evict_unbacked ? "go too" : "stay"}});
  const auto every = std::clamp<std::chrono::nanoseconds>(
      options_.eviction.interval, std::chrono::seconds(1), kLookAtMarksEvery);
  const auto rest = [this](std::chrono::nanoseconds worked) { return !stop_.wait_for(worked); };
  while (!stop_.wait_for(every)) {
    if (const auto pass = eviction_.run_due(rest); !pass) {
      log_warn("eviction_failed", {{"reason", pass.error().detail()}});
    }
  }
}

void Origin::save_ages() {
  const auto age =
      std::chrono::duration_cast<std::chrono::seconds>(ages_->wall().time_since_epoch());
  if (auto saved = catalogue_->put_age(static_cast<std::uint32_t>(age.count())); !saved) {
    log_debug("age_not_saved", {{"reason", saved.error().detail()}});
  }
}

}  // namespace orlop
