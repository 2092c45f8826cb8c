// MetaInfo::parse_json takes files and bodies that others wrote. Property: what it accepts is
// consistent, and its canonical text is read back as the same metainfo.

#include <algorithm>
#include <string_view>

#include "base/check.h"
#include "core/metainfo.h"
#include "core/piece.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto info = orlop::MetaInfo::parse_json(text);
  if (!info) {
    ORLOP_CHECK(info.error().code() == orlop::Errc::invalid_argument);
    ORLOP_CHECK(info.error().detail().size() < 1000);
    return 0;
  }
  ORLOP_CHECK(info->piece_length() > 0);
  ORLOP_CHECK(info->piece_sums().size() ==
              orlop::piece_count(info->size_bytes(), info->piece_length()));

  const auto again = orlop::MetaInfo::parse_json(info->json());
  ORLOP_CHECK(again.has_value());
  ORLOP_CHECK(again->json() == info->json());
  ORLOP_CHECK(again->infohash() == info->infohash());
  ORLOP_CHECK(std::ranges::equal(again->piece_sums(), info->piece_sums()));
  return 0;
}
