// Sidecars are written by another program, in place and unsynced. Properties: what is accepted is
// written back as something that is read as the same value, and Kraken's own bytes unchanged; a
// metainfo is only believed if it is of this blob; whatever is not accepted is named as broken.

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "store/sidecars.h"
#include "tests/fuzz/one_text_disk.h"

namespace orlop {
namespace {

void check_values(std::string_view text) {
  if (const auto persist = parse_persist(text)) {
    ORLOP_CHECK(parse_persist(encode_persist(*persist)) == persist);
  }
  const auto seconds = parse_last_access_time(text);
  if (!seconds) return;
  const auto encoded = encode_last_access_time(*seconds);
  ORLOP_CHECK(encoded.size() >= 8 && encoded.size() <= 10);
  ORLOP_CHECK(parse_last_access_time(encoded) == seconds);
  ORLOP_CHECK(parse_last_access_time(text.substr(0, 10)) == seconds);
}

void check_folder(std::string_view text, Digest digest, std::uint64_t size_bytes) {
  OneTextDisk disk(text);
  const auto sidecars = read_sidecars(disk, "folder", digest, size_bytes);
  if (!sidecars) {
    ORLOP_CHECK(sidecars.error().code() == Errc::busy);
    return;
  }
  const auto broken = [&](std::string_view name) {
    return std::ranges::find(sidecars->broken, name) != sidecars->broken.end();
  };
  ORLOP_CHECK(sidecars->metainfo.has_value() != broken(kTorrentMetaName));
  ORLOP_CHECK(sidecars->persist.has_value() != broken(kPersistName));
  ORLOP_CHECK(sidecars->last_access_time.has_value() != broken(kLastAccessTimeName));
  ORLOP_CHECK(sidecars->persist == parse_persist(text));
  ORLOP_CHECK(sidecars->last_access_time == parse_last_access_time(text));
  if (!sidecars->metainfo) return;
  ORLOP_CHECK(sidecars->metainfo->digest() == digest);
  ORLOP_CHECK(sidecars->metainfo->size_bytes() == size_bytes);
}

}  // namespace
}  // namespace orlop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  orlop::check_values(text);
  orlop::check_folder(text, orlop::Digest({}), 11);
  // For the blob that the text is about, if it is about one, the folder must believe it.
  if (const auto info = orlop::MetaInfo::parse_json(text)) {
    orlop::check_folder(text, info->digest(), info->size_bytes());
    orlop::check_folder(text, info->digest(), info->size_bytes() ^ 1);
  }
  return 0;
}
