#include "core/byte_range.h"

#include <algorithm>
#include <limits>

#include "base/ascii.h"
#include "core/blanks.h"

namespace orlop {
namespace {

constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// One or more digits; a number that does not fit is the largest one.
std::optional<std::uint64_t> parse_position(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) return std::nullopt;
  std::uint64_t number = 0;
  for (const char c : text) {
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number > (kLargest - digit) / 10) return kLargest;
    number = 10 * number + digit;
  }
  return number;
}

/// Takes the text up to the next `separator` off `text`, or all of it.
std::string_view take_until(char separator, std::string_view& text) {
  const auto end = std::min(text.find(separator), text.size());
  const auto taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

/// A range-spec (RFC 9110, section 14.1.1), as far as it is known without the blob's size.
struct RangeSpec {
  bool is_suffix;  // "-5": the last five bytes.
  std::uint64_t first;
  std::uint64_t last;  // Of a suffix: how many bytes.
};

std::optional<RangeSpec> parse_spec(std::string_view text) {
  const auto dash = text.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const auto before = text.substr(0, dash);
  const auto after = text.substr(dash + 1);

  const auto last = after.empty() && !before.empty() ? kLargest : parse_position(after);
  if (!last) return std::nullopt;
  if (before.empty()) return RangeSpec{true, 0, *last};

  const auto first = parse_position(before);
  if (!first || *last < *first) return std::nullopt;
  return RangeSpec{false, *first, *last};
}

std::optional<ByteRange> resolve(const RangeSpec& spec, std::uint64_t size_bytes) {
  if (size_bytes == 0) return std::nullopt;
  if (spec.is_suffix) {
    if (spec.last == 0) return std::nullopt;
    return ByteRange{size_bytes - std::min(spec.last, size_bytes), size_bytes - 1};
  }
  if (spec.first >= size_bytes) return std::nullopt;
  return ByteRange{spec.first, std::min(spec.last, size_bytes - 1)};
}

}  // namespace

std::optional<std::vector<ByteRange>> parse_ranges(std::string_view range_header,
                                                   std::uint64_t size_bytes) {
  auto rest = without_blanks(range_header);
  const auto equals = rest.find('=');
  if (equals == std::string_view::npos) return std::nullopt;
  // RFC 9110, section 14.1: units are case-insensitive.
  if (!equal_ignoring_case(take_until('=', rest), "bytes")) return std::nullopt;

  std::vector<ByteRange> ranges;
  std::size_t spec_count = 0;
  while (!rest.empty()) {
    const auto text = without_blanks(take_until(',', rest));
    if (text.empty()) continue;  // Empty list elements are to be ignored: RFC 9110, 5.6.1.2.
    if (++spec_count > kRangeSpecsMax) return std::nullopt;

    const auto spec = parse_spec(text);
    if (!spec) return std::nullopt;
    if (const auto range = resolve(*spec, size_bytes)) ranges.push_back(*range);
  }
  if (spec_count == 0) return std::nullopt;
  return ranges;
}

}  // namespace orlop
