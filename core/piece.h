#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/result.h"

namespace orlop {

/// The most pieces a blob may be cut into: 16 TiB in pieces of 4 MiB, 16 GiB in pieces of 4 KiB.
/// It bounds what the sums of one blob take: 16 MiB in memory, 46 MB as JSON.
inline constexpr std::uint64_t kPieceCountMax = std::uint64_t{1} << 22;

/// How many pieces a blob has: the last one takes the remainder, and an empty blob has none.
/// Pre: piece_length > 0.
std::uint64_t piece_count(std::uint64_t size_bytes, std::uint64_t piece_length);

/// The bytes in piece `index`; 0 past the last one. Pre: piece_length > 0.
std::uint64_t piece_bytes(std::uint64_t size_bytes, std::uint64_t piece_length,
                          std::uint64_t index);

/// Which piece length a blob gets, by its size: Kraken's `metainfogen.piece_lengths`
/// (lib/metainfogen/config.go).
///
/// The piece length is part of the infohash, so all nodes of a cluster must agree on this table.
/// A value, immutable after `make`; safe to read from any thread.
class PieceLengths {
 public:
  static constexpr std::uint64_t kPieceLengthMax = std::uint64_t{1} << 31;
  static constexpr std::size_t kEntriesMax = 64;

  /// From the smallest blob size, in bytes, to the piece length that holds from there on, in bytes.
  /// `invalid_argument` when it is empty or has more than `kEntriesMax` entries, or when a piece
  /// length is 0 or above `kPieceLengthMax`.
  static Result<PieceLengths> make(
      const std::map<std::uint64_t, std::uint64_t>& minimum_size_to_piece_length);

  /// The length of the last entry whose size is at most `blob_bytes`. A blob below the smallest
  /// entry gets that entry's length all the same.
  std::uint64_t for_size(std::uint64_t blob_bytes) const;

  /// The lengths themselves, ascending, each once. Never empty.
  const std::vector<std::uint64_t>& distinct() const { return distinct_; }

  /// The greatest common divisor of the lengths: every piece is a whole number of grains.
  std::uint64_t grain() const { return grain_; }

 private:
  struct Entry {
    std::uint64_t minimum_size;
    std::uint64_t piece_length;
  };

  explicit PieceLengths(std::vector<Entry> entries);

  std::vector<Entry> entries_;  // Ascending by minimum_size; never empty.
  std::vector<std::uint64_t> distinct_;
  std::uint64_t grain_ = 0;
};

}  // namespace orlop
