#include "server/multipart.h"

#include <sys/random.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/hex.h"

namespace orlop {
namespace {

/// A range and the place in the request of the first range that went into it.
struct Placed {
  ByteRange range;
  std::size_t place;
};

}  // namespace

std::vector<ByteRange> coalesced(std::span<const ByteRange> ranges) {
  std::vector<Placed> sorted;
  sorted.reserve(ranges.size());
  for (const auto& range : ranges) sorted.push_back({range, sorted.size()});
  std::sort(sorted.begin(), sorted.end(), [](const Placed& left, const Placed& right) {
    return left.range.first < right.range.first;
  });

  std::vector<Placed> joined;
  for (const auto& next : sorted) {
    // Not last + 1: a range that ends with the largest number must not wrap.
    if (joined.empty() || (next.range.first > joined.back().range.last &&
                           next.range.first - joined.back().range.last > 1)) {
      joined.push_back(next);
      continue;
    }
    auto& before = joined.back();
    before.range.last = std::max(before.range.last, next.range.last);
    before.place = std::min(before.place, next.place);
  }
  std::sort(joined.begin(), joined.end(),
            [](const Placed& left, const Placed& right) { return left.place < right.place; });

  std::vector<ByteRange> result;
  result.reserve(joined.size());
  for (const auto& [range, place] : joined) result.push_back(range);
  return result;
}

Multipart::Multipart(std::span<const ByteRange> ranges, std::uint64_t blob_bytes,
                     std::string_view content_type, std::string_view boundary) {
  ORLOP_CHECK(ranges.size() <= kRangeSpecsMax);
  const auto delimiter = "--" + std::string(boundary);
  const auto total = "/" + std::to_string(blob_bytes);
  parts_.reserve(ranges.size());
  for (const auto& range : ranges) {
    std::string head = parts_.empty() ? "" : "\r\n";
    head += delimiter;
    head += "\r\nContent-Type: ";
    head += content_type;
    head += "\r\nContent-Range: bytes ";
    head += std::to_string(range.first) + '-' + std::to_string(range.last) + total;
    head += "\r\n\r\n";
    size_bytes_ += head.size() + range.length();
    parts_.push_back({std::move(head), range});
  }
  end_ = "\r\n" + delimiter + "--\r\n";
  size_bytes_ += end_.size();
}

std::string Multipart::text(std::span<const std::byte> blob) const {
  std::string text;
  text.reserve(size_bytes_);
  for (const auto& part : parts_) {
    ORLOP_CHECK(part.range.last < blob.size());
    text += part.head;
    text.append(reinterpret_cast<const char*>(blob.data()) + part.range.first, part.range.length());
  }
  return text += end_;
}

std::string random_boundary() {
  std::array<std::uint8_t, 16> bytes;
  // Cannot fail nor be cut short for so few bytes: getrandom(2), "Interruption by a signal
  // handler".
  ORLOP_CHECK(::getrandom(bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return "orlop-part-" + to_hex(bytes);
}

}  // namespace orlop
