#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/json_writer.h"
#include "server/handlers.h"

namespace orlop {
namespace {

constexpr std::size_t kPageBlobs = 100;  // If the client does not say.

/// What a client asks for. The defaults are those of a request without arguments.
struct Asked {
  std::optional<Digest> after;
  std::size_t limit = kPageBlobs;
};

/// The argument of this name; nothing if there is none. `invalid_argument` if it is there twice or
/// malformed: to take it for absent would begin the list again, and a client might never end.
Result<std::optional<std::string>> single_argument(const Request& request, std::string_view name) {
  const auto count = request.argument_count(name);
  if (count == 0) return std::optional<std::string>();
  auto value = request.argument(name);
  if (count == 1 && value) return value;
  return Error(Errc::invalid_argument, "the argument " + std::string(name) +
                                           (count > 1 ? " stands twice" : " is malformed"));
}

Result<Asked> parse(const Request& request) {
  Asked asked;
  const auto after = single_argument(request, "after");
  if (!after) return after.error();
  if (*after) {
    const auto digest = Digest::parse_hex(**after);
    if (!digest) {
      return Error(Errc::invalid_argument,
                   "after must be 64 lower-case hex digits: " + digest.error().detail());
    }
    asked.after = *digest;
  }
  const auto limit = single_argument(request, "limit");
  if (!limit) return limit.error();
  if (*limit) {
    const std::string_view text = **limit;
    const auto* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, asked.limit);
    const bool whole = error == std::errc() && stop == end;
    if (!whole || asked.limit < 1 || asked.limit > BlobListing::kPageBlobsMax) {
      return Error(Errc::invalid_argument, "limit must be a whole number from 1 to " +
                                               std::to_string(BlobListing::kPageBlobsMax));
    }
  }
  return asked;
}

std::string to_json(const BlobListing::Page& page) {
  std::string json = R"({"blobs":[)";
  for (const auto& blob : page.blobs) {
    json += json.ends_with('[') ? R"({"digest":)" : R"(,{"digest":)";
    append_json_string(json, blob.digest.to_string());
    json += R"(,"size":)";
    append_json_number(json, blob.size_bytes);
    json += R"(,"committed_at":)";
    append_json_number(json, blob.committed_at);
    json += '}';
  }
  json += R"(],"next":)";
  if (page.next) {
    append_json_string(json, page.next->hex());
  } else {
    json += "null";
  }
  json += "}\n";
  return json;
}

}  // namespace

Task<Reply> list_cas_blobs(Call& call) {
  const auto asked = parse(call.request);
  if (!asked) co_return json_error(asked.error(), call.request);
  const auto page = co_await call.origin.listing().page(asked->after, asked->limit);
  if (!page) co_return json_error(page.error(), call.request);
  co_return text_reply(200, to_json(*page), kJson);
}

}  // namespace orlop
