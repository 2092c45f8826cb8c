// parse_content_range takes a header from strangers. Property: what it accepts is in order, fits
// int64, and is read again as the same range when it is written plainly.

#include <limits>
#include <string>
#include <string_view>

#include "base/check.h"
#include "core/content_range.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view value(reinterpret_cast<const char*>(data), size);
  const auto range = orlop::parse_content_range(value);
  if (!range) {
    ORLOP_CHECK(range.error().code() == orlop::Errc::invalid_argument);
    ORLOP_CHECK(range.error().detail().size() < 2000);
    return 0;
  }
  ORLOP_CHECK(range->start <= range->end);
  ORLOP_CHECK(range->end <= std::numeric_limits<std::int64_t>::max());

  const auto plain = std::to_string(range->start) + "-" + std::to_string(range->end);
  const auto again = orlop::parse_content_range(plain);
  ORLOP_CHECK(again.has_value());
  ORLOP_CHECK(*again == *range);
  return 0;
}
