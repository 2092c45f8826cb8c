#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/digest.h"
#include "metadata/records.h"

namespace orlop {

// How the keys of the metadata store are spelled (docs/formats.md, "Metadata"). Their bytes sort as
// their readers need them: numbers are big-endian.

/// The 32 bytes; a view into `digest`, which outlives it. The key in blobs, metainfo and accessed.
inline std::string_view digest_key(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes().data()), Digest::kBytes};
}

/// Nothing if it is not 32 bytes.
std::optional<Digest> digest_from_key(std::string_view key);

/// u32 big-endian.
void append_u32(std::string& out, std::uint32_t number);
/// Pre: four bytes are there.
std::uint32_t read_u32(std::string_view bytes);

/// hour ‖ digest: in access.
inline constexpr std::size_t kAccessKeyBytes = 4 + Digest::kBytes;
/// last hour ‖ first hour: the value in accessed.
inline constexpr std::size_t kAccessedBytes = 8;
std::string access_key(std::uint32_t hour, const Digest& digest);

/// kind ‖ digest: what the keys of a blob's tasks of one kind begin with.
inline constexpr std::size_t kTaskPrefixBytes = 1 + Digest::kBytes;
std::string task_prefix(TaskKind kind, const Digest& digest);
/// kind ‖ digest ‖ namespace: in tasks.
std::string task_key(TaskKind kind, const Digest& digest, std::string_view name_space);

// In default.
inline constexpr std::string_view kUsageKey = "usage";
inline constexpr std::string_view kAgeKey = "age";
inline constexpr std::string_view kScrubKey = "scrub";
inline constexpr std::string_view kIndexerKey = "indexer";  ///< IndexProgress.
inline constexpr std::string_view kProbeKey = "probe";      ///< Written to see whether writes work.
inline constexpr std::string_view kLastGroupPrefix = "last_group";
/// "last_group" ‖ committer.
std::string last_group_key(std::uint32_t committer);

}  // namespace orlop
