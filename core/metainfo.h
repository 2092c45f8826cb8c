#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/digest.h"
#include "core/infohash.h"
#include "core/piece.h"

namespace orlop {

/// How a blob is cut into pieces, and the CRC-32 of each: what a peer needs to fetch it.
///
/// Immutable and always consistent: the piece length is positive, and there is exactly one sum for
/// each piece of the size. Safe to read from any thread. The two forms in which others see it, the
/// JSON and the infohash, are computed once, when it is made.
class MetaInfo {
 public:
  /// The longest text that `parse_json` looks at: the longest canonical one, with some room for
  /// blanks and foreign fields.
  static constexpr std::size_t kJsonBytesMax = 11 * kPieceCountMax + 64 * 1024;

  /// `invalid_argument` if `piece_length` is 0 ("piece length must be positive", Kraken's text), if
  /// a number is above int64 (Kraken's type), if the blob has more than `kPieceCountMax` pieces, or
  /// if there is not one sum for each.
  static Result<MetaInfo> make(Digest digest, std::uint64_t size_bytes, std::uint64_t piece_length,
                               std::vector<std::uint32_t> piece_sums);

  /// Reads Kraken's `_torrentmeta` file and the body of `GET …/metainfo` (core/metainfo.go):
  ///
  ///     {"Info":{"PieceLength":4,"PieceSums":[1,2,3],"Name":"<64 hex>","Length":11}}
  ///
  /// As lenient as Go where old files need it: names match in any (ASCII) case, unknown fields are
  /// ignored, of a repeated field the later one wins, `null` leaves a field as it was, and no sums
  /// are `null` or `[]`. Bytes after the value are an error.
  ///
  /// Stricter where Go reads nonsense: everything `make` checks, upper-case hex, invalid UTF-8, a
  /// `null` among the sums, nesting deeper than 64, more than `kJsonBytesMax` bytes. All of these
  /// are `invalid_argument`; where the text came from only the caller knows. `busy` when there is
  /// no memory for the parser, which takes fourteen times the text while it works.
  static Result<MetaInfo> parse_json(std::string_view text);

  Digest digest() const { return digest_; }
  std::uint64_t size_bytes() const { return size_bytes_; }
  std::uint64_t piece_length() const { return piece_length_; }
  std::span<const std::uint32_t> piece_sums() const { return piece_sums_; }

  /// The canonical text, byte for byte Kraken's: no blanks, no newline at the end, and `null` for
  /// the sums of an empty blob (also when `[]` was read).
  const std::string& json() const { return json_; }

  InfoHash infohash() const { return infohash_; }

 private:
  MetaInfo(Digest digest, std::uint64_t size_bytes, std::uint64_t piece_length,
           std::vector<std::uint32_t> piece_sums);

  Digest digest_;
  std::uint64_t size_bytes_;
  std::uint64_t piece_length_;
  std::vector<std::uint32_t> piece_sums_;
  std::string json_;
  InfoHash infohash_;
};

/// Owns a share of a MetaInfo, on any thread. Taking and dropping one is a write that all threads
/// share; those that only read what is cached hold a MetaInfoPtr (metadata/metainfo_cache.h).
using SharedMetaInfo = std::shared_ptr<const MetaInfo>;

}  // namespace orlop
