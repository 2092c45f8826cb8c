#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "core/piece.h"

namespace orlop {

/// Sums the pieces of a blob while its bytes arrive, although the piece length is known only when
/// the size is.
///
/// The rule (design, section 4.3): with a grain of 256 KiB or more it keeps one sum a grain and
/// joins them at the end. With a smaller grain it keeps a running list for each distinct length if
/// there are at most four of them. Otherwise it keeps nothing, and the caller reads the file once.
///
/// Memory: four bytes a grain, or a piece of each length; a list that would grow past
/// `kPieceCountMax` sums is given up. Keeps nothing of the `PieceLengths` it was made from. A copy
/// is independent, and copies all sums. One thread at a time.
class PieceSummer {
 public:
  static constexpr std::uint64_t kGrainBytesMin = 256 * 1024;
  static constexpr std::size_t kListsMax = 4;

  /// A place to come back to: some forty bytes, whatever has been summed.
  struct Mark {
    std::uint64_t bytes = 0;
    std::array<std::uint32_t, kListsMax> unfinished{};  ///< The sum of each list's open piece.
  };

  explicit PieceSummer(const PieceLengths& lengths);

  /// The next bytes of the blob.
  void update(std::span<const std::byte> bytes);

  Mark mark() const;

  /// Forgets what was summed since `mark` was taken, without copying a sum. Pre: the mark is this
  /// summer's and no rewind has gone behind it (so it is not ahead either, which is checked).
  void rewind(const Mark& mark);

  std::uint64_t bytes() const { return bytes_; }

  /// The sums of everything so far in pieces of `piece_length`, as a MetaInfo has them: the last
  /// piece may be shorter, and no bytes are no pieces. Nothing when this summer did not keep what
  /// it would need. Pre: piece_length > 0.
  std::optional<std::vector<std::uint32_t>> sums(std::uint64_t piece_length) const;

 private:
  /// The sums at one length. `finished` holds one for each whole piece before `bytes_`.
  struct List {
    void extend(std::uint64_t from, std::span<const std::byte> bytes);
    std::vector<std::uint32_t> joined(std::uint64_t grains, std::uint64_t bytes) const;

    std::uint64_t length = 0;
    std::uint32_t unfinished = 0;
    bool given_up = false;
    std::vector<std::uint32_t> finished;
  };

  std::uint64_t bytes_ = 0;
  std::vector<List> lists_;
};

static_assert(std::is_trivially_copyable_v<PieceSummer::Mark>);

}  // namespace orlop
