#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/digest.h"

namespace orlop {

/// A page of the answer to GET /cas (docs/api.md).
struct BlobPage {
  struct Blob {
    Digest digest;
    std::uint64_t size_bytes;
    std::int64_t committed_at;  ///< Seconds since 1970.
  };
  std::vector<Blob> blobs;
  std::optional<Digest> next;  ///< Where the next page begins; nothing behind the last one.
};

/// `corrupt` if it is not what an origin answers.
Result<BlobPage> parse_blob_page(std::string_view json);

}  // namespace orlop
