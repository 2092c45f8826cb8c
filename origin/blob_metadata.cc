#include "origin/blob_metadata.h"

#include <string>
#include <utility>

#include "base/log.h"

namespace orlop {

Result<bool> BlobMetadata::persist(Digest digest) {
  const auto record = catalogue_.blob(digest);
  if (!record) {
    if (record.error().code() != Errc::not_found) return record.error();
    return absent(digest, MetadataKind::persist);
  }
  if (record->pinned) return true;
  const auto tasks = catalogue_.tasks(digest);
  if (!tasks) return tasks.error();
  return !tasks->empty();
}

Result<std::uint32_t> BlobMetadata::last_access(Digest digest) {
  auto hour = catalogue_.last_use(digest);
  if (hour || hour.error().code() != Errc::not_found) return hour;
  return absent(digest, MetadataKind::last_access);
}

Result<bool> BlobMetadata::is_memory_only(Digest digest) const {
  if (!memory_.has(digest)) return false;
  const auto record = catalogue_.blob(digest);
  if (record) return false;
  if (record.error().code() == Errc::not_found) return true;
  return record.error();
}

/// Why there is no record: the blob is not here, or it is not on the disk yet.
Error BlobMetadata::absent(Digest digest, MetadataKind kind) {
  if (!memory_.has(digest)) return Error(Errc::not_found, digest.to_string() + " is not here");
  violations_[static_cast<std::size_t>(kind)].fetch_add(1, std::memory_order_relaxed);
  log_error("invariant_violation", {{"kind", to_string(kind)}, {"digest", digest.to_string()}});
  return Error(Errc::invariant_violation, std::string(to_string(kind)) + " of " +
                                              digest.to_string() +
                                              ", which is in memory only, was asked for");
}

}  // namespace orlop
