// parse_ranges takes a header from strangers. Property: each range it returns lies inside the blob
// (whose size is the first eight bytes of the input), there are not too many, and written plainly
// they are read again as the same ones.

#include <cstring>
#include <string>
#include <string_view>

#include "base/check.h"
#include "core/byte_range.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::uint64_t size_bytes = 0;
  if (size < sizeof size_bytes) return 0;
  std::memcpy(&size_bytes, data, sizeof size_bytes);
  const std::string_view header(reinterpret_cast<const char*>(data) + sizeof size_bytes,
                                size - sizeof size_bytes);

  const auto ranges = orlop::parse_ranges(header, size_bytes);
  if (!ranges) return 0;
  ORLOP_CHECK(ranges->size() <= orlop::kRangeSpecsMax);
  if (ranges->empty()) return 0;

  std::string plain = "bytes=";
  for (const auto& range : *ranges) {
    ORLOP_CHECK(range.first <= range.last);
    ORLOP_CHECK(range.last < size_bytes);
    plain += std::to_string(range.first) + "-" + std::to_string(range.last) + ",";
  }
  ORLOP_CHECK(orlop::parse_ranges(plain, size_bytes) == ranges);
  return 0;
}
