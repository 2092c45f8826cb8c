#include "origin/blob_listing.h"

#include "base/check.h"

namespace orlop {

Task<Result<BlobListing::Page>> BlobListing::page(std::optional<Digest> after, std::size_t limit) {
  ORLOP_CHECK(limit >= 1);
  ORLOP_CHECK(limit <= kPageBlobsMax);
  // One more than wanted: so the last page knows that it is the last.
  const auto records = co_await pool_.run([&] { return catalogue_.list(after, limit + 1); });
  if (!records) co_return records.error();
  Page page;
  page.blobs.reserve(limit);
  for (const auto& [digest, record] : *records) {
    if (page.blobs.size() == limit) {
      page.next = page.blobs.back().digest;
      break;
    }
    page.blobs.push_back({digest, record.size_bytes, record.committed_at});
  }
  co_return std::move(page);
}

}  // namespace orlop
