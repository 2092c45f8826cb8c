#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace orlop {

/// The kinds of facts about one blob that can be asked for (Kraken's names, lib/store/metadata).
///
/// Torrent metainfo is the only one that never changes while the blob is here. So it alone may be
/// read from memory, where many readers share one object: a mutable record that were shared like
/// this would change under its readers (design, section 7).
enum class MetadataKind : std::uint8_t {
  torrent_meta,
  persist,
  last_access,
};

inline constexpr std::size_t kMetadataKinds = 3;

/// For logs, metrics and error texts.
constexpr std::string_view to_string(MetadataKind kind) {
  switch (kind) {
    case MetadataKind::torrent_meta: return "torrent_meta";
    case MetadataKind::persist: return "persist";
    case MetadataKind::last_access: return "last_access";
  }
  return "";
}

}  // namespace orlop
