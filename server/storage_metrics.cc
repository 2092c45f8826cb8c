#include "server/metrics.h"

namespace orlop {

void add_origin(MetricPage& page, const OriginFigures& figures) {
  page.gauge("orlop_uploads_open", "Uploads in progress.").add(std::uint64_t{figures.uploads_open});
  page.gauge("orlop_uploads_max", "As many are taken (store.uploads_max).")
      .add(std::uint64_t{figures.uploads_max});
  page.gauge("orlop_reserved_bytes", "Promised to uploads in progress and not written yet.")
      .add(figures.reserved_bytes);
  page.gauge("orlop_verifications_waiting",
             "Blobs that are or will be hashed because their files look changed.")
      .add(std::uint64_t{figures.verifications_waiting});
  page.counter("orlop_quarantined_blobs_total",
               "Files that were set aside because they are not what their name says.")
      .add(figures.quarantined);
}

void add_storage(MetricPage& page, const std::optional<StorageWatch::Seen>& seen) {
  if (!seen) return;
  const auto& [file_systems, blobs, blob_bytes, metadata_writable] = seen->figures;
  page.gauge("orlop_storage_age_seconds",
             "How old the figures of the disk are: they are asked at each scrape, and old if the "
             "disk did not answer.")
      .add(std::chrono::duration<double>(seen->age).count());
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
