#pragma once

#include <cstdint>
#include <filesystem>

#include "base/clock.h"
#include "base/disk.h"
#include "store/layout.h"

namespace orlop {

/// What an export did.
struct SidecarExport {
  std::uint64_t blobs = 0;             ///< That have all their sidecars now.
  std::uint64_t pinned = 0;            ///< Of these, with `_persist`.
  std::uint64_t without_metainfo = 0;  ///< Kraken makes it again when it is asked to.
  std::uint64_t without_file = 0;      ///< Recorded, but gone or of another size: passed over.
};

/// The way home: writes what the database knows of each blob into Kraken's sidecars, beside its
/// file (docs/formats.md, "Sidecars"): `_torrentmeta`, `_last_access_time`, to the hour, and
/// `_persist` for those that nobody may remove. A Kraken origin, or an Orlop without a database,
/// then knows the blobs as this node did. What the files hold is not looked at.
///
/// Each sidecar is replaced as a whole, and all are durable at return; it may be repeated. Kraken
/// keeps pending write-backs in a database that this does not write, so with any the answer is
/// `pinned` and how many there are, and nothing is written.
///
/// Takes the folders' locks: `busy` while a daemon runs on them. `not_found` without a database.
/// Blocks, for about a millisecond a blob on a disk.
Result<SidecarExport> export_sidecars(const Layout& layout,
                                      const std::filesystem::path& database_dir, Disk& disk,
                                      const Clock& clock);

}  // namespace orlop
