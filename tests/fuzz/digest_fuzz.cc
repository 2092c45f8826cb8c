// Digest::parse takes text from strangers. Property: what it accepts, it writes back unchanged;
// what it refuses, it refuses as invalid_argument and in few words.

#include <string_view>

#include "base/check.h"
#include "core/digest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto digest = orlop::Digest::parse(text)) {
    ORLOP_CHECK(digest->to_string() == text);
    ORLOP_CHECK(orlop::Digest::parse_hex(digest->hex()).has_value());
  } else {
    ORLOP_CHECK(digest.error().code() == orlop::Errc::invalid_argument);
    ORLOP_CHECK(digest.error().detail().size() < 1000);
  }
  return 0;
}
