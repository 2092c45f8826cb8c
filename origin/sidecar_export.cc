#include "origin/sidecar_export.h"

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "metadata/catalogue.h"
#include "origin/folder_locks.h"
#include "store/sidecars.h"

namespace orlop {
namespace {

constexpr std::size_t kPageBlobs = 1000;
constexpr std::int64_t kSecondsAnHour = 3600;
/// Kraken takes any name that contains that of a sidecar for one (file_map.go), so a leftover of
/// ours may not.
constexpr std::string_view kTemporaryName = ".orlop-export";

class Exporter {
 public:
  Exporter(const Layout& layout, Disk& disk, Catalogue& catalogue)
      : layout_(layout), disk_(disk), catalogue_(catalogue) {}

  Result<SidecarExport> run() {
    std::uint32_t hour = 0;
    std::optional<Digest> after;
    for (;;) {
      const auto page = catalogue_.oldest_accesses(hour, after, kPageBlobs);
      if (!page) return page.error();
      for (const auto& access : *page) {
        if (auto written = export_blob(access); !written) {
          return std::move(written).error().within(access.digest.to_string());
        }
      }
      if (page->size() < kPageBlobs) break;
      hour = page->back().hour;
      after = page->back().digest;
    }
    if (auto synced = sync_shards(); !synced) return std::move(synced).error();
    return done_;
  }

 private:
  Result<> export_blob(const Access& access) {
    const auto digest = access.digest;
    const auto record = catalogue_.blob(digest);
    if (!record) return record.error();
    const auto file = disk_.stat(layout_.blob(digest));
    if (!file && file.error().code() != Errc::not_found) return file.error();
    if (!file || file->size_bytes != record->size_bytes) {
      ++done_.without_file;
      return {};
    }
    const auto tasks = catalogue_.tasks(digest);
    if (!tasks) return tasks.error();
    const bool pinned = record->pinned || !tasks->empty();
    shards_.at(digest.bytes().front()) = true;

    const auto folder = layout_.blob_folder(digest);
    const auto metainfo = catalogue_.metainfo(digest);
    if (metainfo) {
      if (auto put = replace(folder, kTorrentMetaName, metainfo->json()); !put) return put;
    } else if (metainfo.error().code() != Errc::not_found &&
               metainfo.error().code() != Errc::corrupt) {
      return metainfo.error();
    } else {
      ++done_.without_metainfo;
    }
    const auto used = encode_last_access_time(access.hour * kSecondsAnHour);
    if (auto put = replace(folder, kLastAccessTimeName, used); !put) return put;
    // No file is Kraken's way to say no.
    auto persist = pinned ? replace(folder, kPersistName, encode_persist(true))
                          : disk_.remove_file(folder / kPersistName);
    if (!persist) return persist;
    ++done_.blobs;
    done_.pinned += pinned ? 1 : 0;
    return {};
  }

  Result<> replace(const std::filesystem::path& folder, std::string_view name,
                   std::string_view bytes) {
    const auto temporary = folder / kTemporaryName;
    // An export that died may have left one.
    if (auto removed = disk_.remove_file(temporary); !removed) return removed;
    const auto file = disk_.create(temporary);
    if (!file) return file.error();
    const auto raw = std::as_bytes(std::span(bytes.data(), bytes.size()));
    if (auto written = disk_.write(*file, raw, 0); !written) return written;
    return disk_.rename(temporary, folder / name);
  }

  /// Shards may lie on volumes of their own. Where nothing is left to write it costs next to
  /// nothing.
  Result<> sync_shards() {
    for (std::size_t shard = 0; shard < shards_.size(); ++shard) {
      if (!shards_[shard]) continue;
      const Digest first({static_cast<std::uint8_t>(shard)});
      const auto directory = disk_.open_directory(layout_.outer_shard(first));
      if (!directory) return directory.error();
      if (auto synced = disk_.sync_filesystem(*directory); !synced) return synced;
    }
    return {};
  }

  const Layout& layout_;
  Disk& disk_;
  Catalogue& catalogue_;
  std::array<bool, 256> shards_ = {};
  SidecarExport done_;
};

}  // namespace

Result<SidecarExport> export_sidecars(const Layout& layout,
                                      const std::filesystem::path& database_dir, Disk& disk,
                                      const Clock& clock) {
  const auto locks = FolderLocks::acquire(own_folders(layout));
  if (!locks) return locks.error();
  if (const auto current = disk.stat(database_dir / "CURRENT"); !current) {
    return Error(Errc::not_found, "there is no database in " + database_dir.string());
  }
  auto catalogue = Catalogue::open({.path = database_dir, .clock = &clock});
  if (!catalogue) return std::move(catalogue).error();
  const auto write_backs = (*catalogue)->count_tasks(TaskKind::write_back);
  if (!write_backs) return write_backs.error();
  if (*write_backs > 0) {
    return Error(Errc::pinned,
                 std::to_string(*write_backs) +
                     " write-backs are pending, and Kraken would not know of them; let them finish "
                     "first");
  }
  return Exporter(layout, disk, **catalogue).run();
}

}  // namespace orlop
