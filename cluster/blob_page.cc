#include "cluster/blob_page.h"

#include <simdjson.h>

#include <string>

namespace orlop {
namespace {

namespace dom = simdjson::dom;

Error malformed(const std::string& what) {
  return Error(Errc::corrupt, "the list of blobs is malformed: " + what);
}

Result<BlobPage::Blob> parse_blob(dom::element element) {
  std::string_view digest;
  std::uint64_t size_bytes = 0;
  std::int64_t committed_at = 0;
  if (const auto error = element["digest"].get(digest)) {
    return malformed(std::string("digest: ") + simdjson::error_message(error));
  }
  if (const auto error = element["size"].get(size_bytes)) {
    return malformed(std::string("size: ") + simdjson::error_message(error));
  }
  if (const auto error = element["committed_at"].get(committed_at)) {
    return malformed(std::string("committed_at: ") + simdjson::error_message(error));
  }
  const auto parsed = Digest::parse(digest);
  if (!parsed) return malformed(parsed.error().detail());
  return BlobPage::Blob{.digest = *parsed, .size_bytes = size_bytes, .committed_at = committed_at};
}

}  // namespace

Result<BlobPage> parse_blob_page(std::string_view json) {
  dom::parser parser;
  dom::element root;
  if (const auto error = parser.parse(json.data(), json.size()).get(root)) {
    return malformed(simdjson::error_message(error));
  }
  BlobPage page;
  dom::array blobs;
  if (const auto error = root["blobs"].get(blobs)) {
    return malformed(std::string("blobs: ") + simdjson::error_message(error));
  }
  for (const dom::element element : blobs) {
    const auto blob = parse_blob(element);
    if (!blob) return blob.error();
    page.blobs.push_back(*blob);
  }
  dom::element next;
  if (const auto error = root["next"].get(next)) {
    return malformed(std::string("next: ") + simdjson::error_message(error));
  }
  if (next.is_null()) return page;
  std::string_view hex;
  if (const auto error = next.get(hex)) {
    return malformed(std::string("next: ") + simdjson::error_message(error));
  }
  const auto digest = Digest::parse_hex(hex);
  if (!digest) return malformed(digest.error().detail());
  page.next = *digest;
  return page;
}

}  // namespace orlop
