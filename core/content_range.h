#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace orlop {

/// Where a chunk of an upload goes: from `start` up to, but without, `end`. May be empty.
struct ChunkRange {
  std::uint64_t start;
  std::uint64_t end;

  std::uint64_t length() const { return end - start; }

  friend bool operator==(const ChunkRange&, const ChunkRange&) = default;
};

/// Reads the `Content-Range` header of a PATCH in Kraken's own dialect (origin/blobserver,
/// parseContentRange), which is neither RFC 9110's nor OCI's: `start-end`, end exclusive; each an
/// optional `+` and decimal digits, at most int64; blanks at both ends of the value are ignored.
///
/// `invalid_argument`, with Kraken's texts, on anything else, also for a header that is absent or
/// empty. Stricter than Kraken in one place: an end before the start, which there succeeds and
/// writes nothing.
Result<ChunkRange> parse_content_range(std::optional<std::string_view> header);

}  // namespace orlop
