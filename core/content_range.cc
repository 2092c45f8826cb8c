#include "core/content_range.h"

#include <limits>
#include <string>

#include "core/blanks.h"
#include "core/quote.h"

namespace orlop {
namespace {

Error refused(std::string detail) { return Error(Errc::invalid_argument, std::move(detail)); }

/// As Go's strconv.ParseInt(text, 10, 64), whose texts reach the client. The order of its checks
/// shows in them: a number that outgrows 64 bits is out of range even if a letter follows.
Result<std::uint64_t> parse_int64(std::string_view text) {
  const auto refused_as = [&](std::string_view why) {
    return refused("strconv.ParseInt: parsing " + quote(text) + ": " + std::string(why));
  };
  auto digits = text;
  if (digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.empty()) return refused_as("invalid syntax");

  std::uint64_t number = 0;
  for (const char c : digits) {
    if (c < '0' || c > '9') return refused_as("invalid syntax");
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (number > (std::numeric_limits<std::uint64_t>::max() - digit) / 10) {
      return refused_as("value out of range");
    }
    number = 10 * number + digit;
  }
  if (number > std::numeric_limits<std::int64_t>::max()) return refused_as("value out of range");
  return number;
}

}  // namespace

Result<ChunkRange> parse_content_range(std::optional<std::string_view> header) {
  const auto value = without_blanks(header.value_or(""));
  if (value.empty()) return refused("no Content-Range header");
  const auto named = "Content-Range header " + quote(value);

  const auto dash = value.find('-');
  if (dash == std::string_view::npos || value.find('-', dash + 1) != std::string_view::npos) {
    return refused("cannot parse " + named + ": expected format \"start-end\"");
  }
  auto start = parse_int64(value.substr(0, dash));
  if (!start) return std::move(start).error().within("cannot parse start of range in " + named);
  auto end = parse_int64(value.substr(dash + 1));
  if (!end) return std::move(end).error().within("cannot parse end of range in " + named);
  if (*end < *start) return refused("cannot parse " + named + ": end is before start");
  return ChunkRange{*start, *end};
}

}  // namespace orlop
