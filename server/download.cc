#include "server/download.h"

#include <optional>
#include <utility>

namespace orlop {
namespace {

/// A blob is opened again when its first piece was bad and it has been settled since. Then it is
/// absent or verified, unless somebody goes on changing its file.
constexpr int kAttemptsMax = 3;

/// Where the body begins in the blob; nothing if there is none.
std::optional<std::uint64_t> first_offset(const Reply& reply, const Request& request) {
  if (request.is_head() || reply.blob == nullptr) return std::nullopt;
  if (reply.multipart != nullptr) return reply.multipart->parts().front().range.first;
  if (reply.blob_length == 0) return std::nullopt;
  return reply.blob_offset;
}

}  // namespace

Task<Result<Reply>> download_reply(Origin& origin, Digest digest, const Request& request) {
  for (int attempt = 1;; ++attempt) {
    auto opening =
        request.is_head() ? origin.lookup().open_for_head(digest) : origin.lookup().open(digest);
    auto blob = co_await std::move(opening);
    if (!blob) co_return std::move(blob).error();
    origin.touch(digest);
    auto reply = blob_reply(*std::move(blob), request);
    const auto first = first_offset(reply, request);
    if (!first || reply.blob->checked == nullptr) co_return std::move(reply);
    auto ready = co_await reply.blob->checked->read(reply.blob->file, *first);
    if (ready) co_return std::move(reply);
    if (ready.error().code() != Errc::corrupt || attempt == kAttemptsMax) {
      co_return std::move(ready).error();
    }
  }
}

}  // namespace orlop
