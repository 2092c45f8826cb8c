#include "server/metrics.h"

namespace orlop {

namespace {

double seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

void add_origin(MetricPage& page, const OriginFigures& figures) {
  page.gauge("orlop_uploads_open", "Uploads in progress.").add(std::uint64_t{figures.uploads_open});
  page.gauge("orlop_uploads_max", "As many are taken (store.uploads_max).")
      .add(std::uint64_t{figures.uploads_max});
  page.gauge("orlop_reserved_bytes", "Promised to uploads in progress and not written yet.")
      .add(figures.reserved_bytes);
  page.gauge("orlop_blobs_being_read", "Different blobs that downloads read at this moment.")
      .add(std::uint64_t{figures.blobs_being_read});
  page.gauge("orlop_verifications_waiting",
             "Blobs that are or will be hashed because their files look changed.")
      .add(std::uint64_t{figures.verifications_waiting});
  page.counter("orlop_quarantined_blobs_total",
               "Files that were set aside because they are not what their name says.")
      .add(figures.quarantined);
  page.counter("orlop_invariant_violations_total",
               "A fact that can change was asked for where it does not exist: a bug.");
  for (std::size_t kind = 0; kind < kMetadataKinds; ++kind) {
    page.add(static_cast<double>(figures.invariant_violations[kind]),
             {{"kind", std::string(to_string(MetadataKind(kind)))}});
  }
}

void add_queues(MetricPage& page, const OriginFigures& figures) {
  const auto& disk = figures.disk_pool;
  const auto& commits = figures.committer;
  page.gauge("orlop_queue_waiting", "What waits in a queue.")
      .add(std::uint64_t{disk.waiting}, {{"queue", "disk"}})
      .add(std::uint64_t{commits.waiting}, {{"queue", "commit"}});
  page.gauge("orlop_queue_max", "As much may wait; beyond that requests get 503.")
      .add(std::uint64_t{disk.waiting_max}, {{"queue", "disk"}})
      .add(std::uint64_t{commits.waiting_max}, {{"queue", "commit"}});
  page.gauge("orlop_queue_stalled_seconds",
             "disk: since work was last begun while some waits; commit: how long the oldest waits. "
             "0 if nothing waits.")
      .add(seconds(disk.stalled), {{"queue", "disk"}})
      .add(seconds(commits.oldest_waits), {{"queue", "commit"}});
  page.histogram("orlop_queue_wait_seconds", "How long work waited until it was begun.")
      .add(disk.waited, kPerSecond, {{"queue", "disk"}})
      .add(commits.waited, kPerSecond, {{"queue", "commit"}});
  page.gauge("orlop_disk_threads_busy", "Threads of the disk pool that work.")
      .add(std::uint64_t{disk.running});

  page.histogram("orlop_commit_group_size", "Commits that became durable together.")
      .add(commits.group_size, 1);
  page.histogram("orlop_commit_group_seconds", "From the group's first rename to its answers.")
      .add(commits.group_took, kPerSecond);
  page.histogram("orlop_commit_sync_seconds", "What of that the disk took to sync.")
      .add(commits.synced, kPerSecond);
  page.gauge("orlop_commit_group_running_seconds",
             "How long the present group runs already; 0 if there is none.")
      .add(seconds(commits.group_running));
  page.counter("orlop_commits_failed_total", "Commits that the disk or the database refused.")
      .add(commits.failed);
}

void add_caches(MetricPage& page, const OriginFigures& figures) {
  const auto& metainfo = figures.metainfo_cache;
  page.gauge("orlop_metainfo_cache_objects", "Metainfo that is in memory.").add(metainfo.entries);
  page.gauge("orlop_metainfo_cache_bytes",
             "What it takes, with what was evicted and is still being read.")
      .add(metainfo.bytes + metainfo.retired_bytes);
  page.gauge("orlop_metainfo_cache_max_bytes", "As much it may take.")
      .add(figures.metainfo_cache_bytes_max);
  page.counter("orlop_metainfo_cache_evictions_total", "Evicted for room.").add(metainfo.evictions);
  page.counter("orlop_metainfo_cache_refusals_total",
               "Not taken in because too much is still being read: a reader that keeps what it "
               "got.")
      .add(metainfo.refused);
}

void add_background(MetricPage& page, const OriginFigures& figures) {
  const auto& removal = figures.removal;
  page.counter("orlop_removed_blobs_total", "Blobs that were removed, by what asked for it.")
      .add(removal.deleted, {{"reason", "delete"}})
      .add(removal.cleaned_up, {{"reason", "forced_clean_up"}})
      .add(removal.evicted, {{"reason", "eviction"}});
  page.counter("orlop_evicted_bytes_total", "What eviction freed on the disk.")
      .add(removal.evicted_bytes);

  const auto& scrub = figures.scrub;
  page.gauge("orlop_scrub_enabled", "1 if scrub.period is set, else 0.").add(scrub.on ? 1.0 : 0.0);
  page.gauge("orlop_scrub_pass_done", "How much of the present or last pass is done, 0 to 1.")
      .add(scrub.done);
  page.gauge("orlop_scrub_pass_start_seconds", "When it began, in seconds since 1970; 0: never.")
      .add(static_cast<double>(scrub.started_at));
  page.gauge("orlop_scrub_pass_blobs", "Blobs of this pass, by what was found.")
      .add(scrub.blobs, {{"found", "right"}})
      .add(scrub.bad, {{"found", "bad"}})
      .add(scrub.skipped, {{"found", "skipped"}});
  page.gauge("orlop_scrub_pass_bytes", "Bytes of the right ones.").add(scrub.bytes);
  page.gauge("orlop_scrub_bytes_per_second", "How fast it is meant to read now; 0: it rests.")
      .add(scrub.bytes_per_second);

  const auto& indexer = figures.indexer;
  page.gauge("orlop_indexer_done", "How much of the folder is indexed, 0 to 1.")
      .add(static_cast<double>(indexer.shards_done) / IndexProgress::kShards);
  page.gauge("orlop_indexer_entries", "What the indexer found in the folder.")
      .add(indexer.recorded, {{"found", "recorded_unread"}})
      .add(indexer.hashed, {{"found", "hashed"}})
      .add(indexer.known, {{"found", "known_before"}})
      .add(indexer.quarantined, {{"found", "quarantined"}})
      .add(indexer.ghosts, {{"found", "ghost"}})
      .add(indexer.foreign, {{"found", "foreign"}})
      .add(indexer.unreadable, {{"found", "unreadable"}});
}

void add_storage(MetricPage& page, const std::optional<StorageWatch::Seen>& seen) {
  if (!seen) return;
  const auto& [file_systems, blobs, blob_bytes, metadata_writable] = seen->figures;
  page.gauge("orlop_storage_age_seconds",
             "How old the figures of the disk are: they are asked at each scrape, and old if the "
             "disk did not answer.")
      .add(seconds(seen->age));
  page.gauge("orlop_metadata_writable", "1 if the database takes changes, else 0.")
      .add(metadata_writable ? 1.0 : 0.0);
  if (blobs) {
    page.gauge("orlop_blobs", "Recorded blobs.").add(*blobs);
    page.gauge("orlop_blob_bytes", "What they take on the disk.").add(blob_bytes);
  }
  const auto of_each = [&page, &all = file_systems](auto value) {
    for (const auto& one : all) {
      if (one.use) page.add(static_cast<double>(value(one)), {{"file_system", one.name}});
    }
  };
  page.gauge("orlop_file_system_bytes", "Size of the file system.");
  of_each([](const auto& one) { return one.use->total_bytes; });
  page.gauge("orlop_file_system_free_bytes", "Free on it for this process.");
  of_each([](const auto& one) { return one.use->free_bytes; });
  page.gauge("orlop_file_system_floor_bytes",
             "With less free than this, uploads are refused (store.free_bytes_min).");
  of_each([](const auto& one) { return one.floor_bytes; });
  page.gauge("orlop_file_system_free_inodes",
             "Files that still fit; none where the file system sets no limit.");
  for (const auto& one : file_systems) {
    if (one.use && one.use->free_inodes) {
      page.add(*one.use->free_inodes, {{"file_system", one.name}});
    }
  }
}

}  // namespace orlop
