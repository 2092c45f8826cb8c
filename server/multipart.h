#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/byte_range.h"

namespace orlop {

/// Joins ranges that overlap, repeat or touch. What comes back is disjoint, so all of it together
/// is never longer than the blob, whatever was asked for. In the order in which the first range of
/// each was given, as a server should answer (RFC 9110, section 15.3.7.2, which allows the joining
/// too).
std::vector<ByteRange> coalesced(std::span<const ByteRange> ranges);

/// The body of an answer with several ranges: multipart/byteranges (RFC 9110, section 14.6). Each
/// part is some text, made in advance so that the whole length is known, and then the bytes of its
/// range, which stay where they are. At most `kRangeSpecsMax` parts: 200 bytes each, not more.
class Multipart {
 public:
  struct Part {
    std::string head;  ///< All that stands before the bytes, the line end before it included.
    ByteRange range;
  };

  /// Parts that are all of `content_type`. `ranges` lie inside a blob of `blob_bytes`. `boundary`
  /// occurs in none of their bytes: see `random_boundary`.
  Multipart(std::span<const ByteRange> ranges, std::uint64_t blob_bytes,
            std::string_view content_type, std::string_view boundary);

  const std::vector<Part>& parts() const { return parts_; }
  const std::string& end() const { return end_; }  ///< What follows the last part.
  std::uint64_t size_bytes() const { return size_bytes_; }

  /// All of it, for a blob that is in memory.
  std::string text(std::span<const std::byte> blob) const;

 private:
  std::vector<Part> parts_;
  std::string end_;
  std::uint64_t size_bytes_ = 0;
};

/// A new boundary, always of the same length: 128 bits from the system's generator. So nobody can
/// have put it into a blob beforehand; and not from base/random.h, of which a client that sees many
/// boundaries could compute the next one. It begins with a word that no header of ours contains.
std::string random_boundary();

}  // namespace orlop
