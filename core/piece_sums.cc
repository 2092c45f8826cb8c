#include "core/piece_sums.h"

#include <algorithm>

#include "base/check.h"
#include "core/crc32.h"

namespace orlop {

PieceSummer::PieceSummer(const PieceLengths& lengths) {
  const auto keep = [this](std::uint64_t length) { lists_.emplace_back().length = length; };
  if (lengths.grain() >= kGrainBytesMin) {
    keep(lengths.grain());
  } else if (lengths.distinct().size() <= kListsMax) {
    std::for_each(lengths.distinct().begin(), lengths.distinct().end(), keep);
  }
}

void PieceSummer::update(std::span<const std::byte> bytes) {
  for (auto& list : lists_) list.extend(bytes_, bytes);
  bytes_ += bytes.size();
}

void PieceSummer::List::extend(std::uint64_t from, std::span<const std::byte> bytes) {
  while (!bytes.empty() && !given_up) {
    const auto room = length - from % length;
    const auto part =
        bytes.first(static_cast<std::size_t>(std::min<std::uint64_t>(room, bytes.size())));
    unfinished = crc32(unfinished, part);
    from += part.size();
    bytes = bytes.subspan(part.size());
    if (part.size() < room) return;

    if (finished.size() == kPieceCountMax) {
      given_up = true;
      finished = {};  // Assigned, not cleared: the memory goes back.
      return;
    }
    finished.push_back(unfinished);
    unfinished = 0;
  }
}

PieceSummer::Mark PieceSummer::mark() const {
  Mark mark{.bytes = bytes_};
  for (std::size_t i = 0; i < lists_.size(); ++i) mark.unfinished[i] = lists_[i].unfinished;
  return mark;
}

void PieceSummer::rewind(const Mark& mark) {
  ORLOP_CHECK(mark.bytes <= bytes_);
  for (std::size_t i = 0; i < lists_.size(); ++i) {
    auto& list = lists_[i];
    if (list.given_up) continue;
    // The sums before the mark are as they were then: bytes only ever come after them.
    list.finished.resize(static_cast<std::size_t>(mark.bytes / list.length));
    list.unfinished = mark.unfinished[i];
  }
  bytes_ = mark.bytes;
}

std::optional<std::vector<std::uint32_t>> PieceSummer::sums(std::uint64_t piece_length) const {
  ORLOP_CHECK(piece_length > 0);
  // The longest list that fits has the fewest sums to join; the piece length's own has none.
  for (auto list = lists_.rbegin(); list != lists_.rend(); ++list) {
    if (list->given_up || piece_length % list->length != 0) continue;
    return list->joined(piece_length / list->length, bytes_);
  }
  return std::nullopt;
}

std::vector<std::uint32_t> PieceSummer::List::joined(std::uint64_t grains,
                                                     std::uint64_t bytes) const {
  std::vector<std::uint32_t> sums;
  sums.reserve(static_cast<std::size_t>(piece_count(bytes, length * grains)));
  const auto add = [&](std::uint64_t index, std::uint32_t sum, std::uint64_t sum_bytes) {
    if (index % grains == 0) {
      sums.push_back(sum);
    } else {
      sums.back() = crc32_combine(sums.back(), sum, sum_bytes);
    }
  };
  for (std::size_t i = 0; i < finished.size(); ++i) add(i, finished[i], length);
  if (const auto rest = bytes % length; rest != 0) add(finished.size(), unfinished, rest);
  return sums;
}

}  // namespace orlop
