#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace orlop {

/// A part of a blob, resolved against its size: both ends lie inside it and belong to the range,
/// as in HTTP (RFC 9110, section 14.1.2). So a range is never empty.
struct ByteRange {
  std::uint64_t first;
  std::uint64_t last;

  std::uint64_t length() const { return last - first + 1; }

  friend bool operator==(const ByteRange&, const ByteRange&) = default;
};

inline constexpr std::size_t kRangeSpecsMax = 1024;

/// Reads the value of a `Range` header for a blob of `size_bytes`.
///
///  - Nothing: the header is to be ignored, and the answer is the whole blob. It is not a set of
///    byte ranges, it is malformed (a last position before the first one counts as that), or it
///    holds more than `kRangeSpecsMax` ranges (RFC 9110, section 14.2, allows all three).
///  - An empty vector: it is well formed, but not one range touches the blob: 416.
///  - Otherwise the ranges that do, in the order given, clipped to the blob. They may overlap or
///    repeat: what to make of that is the caller's part, before it sends each of them.
///
/// Numbers beyond 64 bits count as the largest one; nothing wraps. An empty blob satisfies no
/// range.
std::optional<std::vector<ByteRange>> parse_ranges(std::string_view range_header,
                                                   std::uint64_t size_bytes);

}  // namespace orlop
