#include "origin/catalogue_journal.h"

#include <utility>
#include <vector>

#include "base/log.h"

namespace orlop {

Fingerprint fingerprint_of(const FileStat& file) {
  return {.inode = file.inode,
          .size_bytes = file.size_bytes,
          .modified_ns = file.modified_ns,
          .changed_ns = file.changed_ns};
}

Result<> CatalogueJournal::record(std::span<const CommitRecord> group) {
  const auto now = std::chrono::system_clock::to_time_t(clock_.wall());
  std::vector<CommitEntry> entries;
  entries.reserve(group.size());
  for (const auto& one : group) {
    CommitEntry entry{.blob = {.size_bytes = one.metainfo->size_bytes(),
                               .blocks = one.file.blocks,
                               .committed_at = now,
                               .backed = one.note->backed,
                               .fingerprint = std::nullopt},
                      .metainfo = one.metainfo,
                      .task = std::nullopt,
                      .digest = one.metainfo->digest()};
    if (files_will_be_synced_) entry.blob.fingerprint = fingerprint_of(one.file);
    if (const auto& order = one.note->write_back) {
      entry.task = TaskRecord{.kind = TaskKind::write_back,
                              .digest = entry.digest,
                              .name_space = order->name_space,
                              .delay = order->delay,
                              .created_at = now};
    }
    entries.push_back(std::move(entry));
  }
  return catalogue_.commit(entries);
}

void CatalogueJournal::distrust(std::span<const CommitRecord> group) {
  for (const auto& one : group) {
    const auto digest = one.metainfo->digest();
    if (auto dropped = catalogue_.drop_fingerprint(digest); !dropped) {
      log_error("blob_not_distrusted",
                {{"digest", digest.to_string()}, {"reason", dropped.error().detail()}});
    }
  }
}

}  // namespace orlop
