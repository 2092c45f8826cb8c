#include "origin/figures.h"

#include "origin/origin.h"

namespace orlop {
namespace {

constexpr std::uint64_t kBlockBytes = 512;

StorageFigures::FileSystem file_system(std::string name, const std::filesystem::path& path,
                                       std::optional<std::uint64_t> free_bytes_min) {
  StorageFigures::FileSystem figures{.name = std::move(name), .use = {}, .floor_bytes = 0};
  if (const auto use = space_use(path)) {
    figures.use = *use;
    figures.floor_bytes = space_floor(*use, free_bytes_min);
  }
  return figures;
}

}  // namespace

OriginFigures Origin::figures() const {
  OriginFigures figures;
  figures.uploads_open = upload_table_.count();
  figures.uploads_max = options_.uploads.uploads_max;
  figures.reserved_bytes = space_.reserved_bytes();
  figures.verifications_waiting = lookup_.verifications_waiting();
  figures.quarantined = files_.quarantined();
  figures.blobs_being_read = open_blobs_.count();
  figures.disk_pool = pool_.stats();
  figures.committer = committer_.stats();
  figures.removal = removal_.stats();
  figures.scrub = scrub_.figures();
  figures.indexer = indexer_.progress();
  figures.metainfo_cache = metainfo_cache_->use();
  figures.metainfo_cache_bytes_max = options_.metainfo_cache.bytes_max;
  figures.refused_for_space = space_.refused();
  figures.refused_for_uploads_max = upload_table_.refused();
  for (std::size_t kind = 0; kind < kMetadataKinds; ++kind) {
    figures.invariant_violations[kind] = metadata_.violations(MetadataKind(kind));
  }
  return figures;
}

StorageFigures Origin::storage_figures() const {
  StorageFigures figures;
  const auto& layout = options_.layout;
  const auto least = options_.free_bytes_min;
  figures.file_systems.push_back(file_system("cache", layout.cache_dir, least));
  for (std::size_t number = 1; number < layout.filesystem_count(); ++number) {
    figures.file_systems.push_back(
        file_system("volume-" + std::to_string(number), layout.upload_dir_of(number), least));
  }
  figures.file_systems.push_back(file_system("database", options_.database_dir, 0));
  if (const auto usage = catalogue_->usage()) {
    figures.blobs = usage->blobs;
    figures.blob_bytes = usage->blocks * kBlockBytes;
  }
  figures.metadata_writable = !catalogue_->fault();
  return figures;
}

}  // namespace orlop
