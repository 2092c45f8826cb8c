#include "core/piece.h"

#include <algorithm>
#include <numeric>
#include <string>

#include "base/check.h"

namespace orlop {

std::uint64_t piece_count(std::uint64_t size_bytes, std::uint64_t piece_length) {
  ORLOP_CHECK(piece_length > 0);
  // Not (size + length - 1) / length: that wraps near the end of the type.
  return size_bytes / piece_length + (size_bytes % piece_length != 0 ? 1 : 0);
}

std::uint64_t piece_bytes(std::uint64_t size_bytes, std::uint64_t piece_length,
                          std::uint64_t index) {
  if (index >= piece_count(size_bytes, piece_length)) return 0;
  return std::min(piece_length, size_bytes - index * piece_length);
}

Result<PieceLengths> PieceLengths::make(
    const std::map<std::uint64_t, std::uint64_t>& minimum_size_to_piece_length) {
  const auto refused = [](std::string detail) {
    return Error(Errc::invalid_argument, std::move(detail));
  };
  if (minimum_size_to_piece_length.empty()) return refused("no piece lengths configured");
  if (minimum_size_to_piece_length.size() > kEntriesMax) {
    return refused("more than " + std::to_string(kEntriesMax) + " piece lengths");
  }
  std::vector<Entry> entries;
  for (const auto& [minimum_size, piece_length] : minimum_size_to_piece_length) {
    if (piece_length == 0) return refused("piece length must be positive");
    if (piece_length > kPieceLengthMax) {
      return refused("piece length " + std::to_string(piece_length) + " is above " +
                     std::to_string(kPieceLengthMax));
    }
    entries.push_back({minimum_size, piece_length});
  }
  return PieceLengths(std::move(entries));
}

PieceLengths::PieceLengths(std::vector<Entry> entries) : entries_(std::move(entries)) {
  for (const auto& entry : entries_) {
    distinct_.push_back(entry.piece_length);
    grain_ = std::gcd(grain_, entry.piece_length);
  }
  std::sort(distinct_.begin(), distinct_.end());
  distinct_.erase(std::unique(distinct_.begin(), distinct_.end()), distinct_.end());
}

std::uint64_t PieceLengths::for_size(std::uint64_t blob_bytes) const {
  const auto above =
      std::upper_bound(entries_.begin(), entries_.end(), blob_bytes,
                       [](auto bytes, const Entry& entry) { return bytes < entry.minimum_size; });
  return above == entries_.begin() ? above->piece_length : std::prev(above)->piece_length;
}

}  // namespace orlop
