#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace orlop {

/// Where the elements of one section lie in a snapshot.
struct SnapshotSection {
  std::string_view collection;  ///< In the snapshot's bytes.
  std::size_t offset = 0;
  std::size_t length_bytes = 0;
};

struct SnapshotContents {
  std::uint64_t saved_at = 0;
  std::vector<SnapshotSection> sections;
};

/// Looks whether these bytes are a whole snapshot, as SnapshotEncoder makes them: the checksum is
/// that of the section table, each section has its digest, and between the sections stands what has
/// to stand there and nothing else. So a byte that is cut, flipped, moved or taken from another
/// generation is seen, and the reason names the section. What the elements say is not looked at.
///
/// `corrupt` if not, also for a version that this program does not know.
Result<SnapshotContents> check_snapshot(std::string_view bytes);

}  // namespace orlop
