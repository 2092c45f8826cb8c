#include "config/nearest.h"

#include <algorithm>
#include <array>
#include <utility>

namespace orlop {
namespace {

constexpr std::size_t kTextBytesMax = 128;

using Row = std::array<std::size_t, kTextBytesMax + 1>;

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  a = a.substr(0, kTextBytesMax);
  b = b.substr(0, kTextBytesMax);
  Row before_last{};
  Row last{};
  Row row{};
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, replaced});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::string nearest(std::string_view text, const std::vector<std::string>& candidates,
                    std::size_t distance_max) {
  std::string best;
  std::size_t least = distance_max + 1;
  for (const auto& candidate : candidates) {
    const auto distance = edit_distance(text, candidate);
    if (distance >= least) continue;
    least = distance;
    best = candidate;
  }
  return best;
}

}  // namespace orlop
