#include <string>
#include <string_view>
#include <utility>

#include "server/download.h"
#include "server/handlers.h"

namespace orlop {
namespace {

Reply bad_digest(const Error& error) {
  return kraken_error(400, "parse digest: " + error.detail());
}

/// Go's strconv.ParseBool, and the empty text, which means the default.
std::optional<bool> parse_bool(std::string_view text) {
  for (const std::string_view word : {"1", "t", "T", "true", "TRUE", "True"}) {
    if (text == word) return true;
  }
  for (const std::string_view word : {"", "0", "f", "F", "false", "FALSE", "False"}) {
    if (text == word) return false;
  }
  return std::nullopt;
}

}  // namespace

Task<Reply> get_locations(Call& call) {
  const auto digest = Digest::parse(call.parameters[0]);
  if (!digest) co_return bad_digest(digest.error());
  auto reply = empty_reply(200);
  reply.fields.emplace_back("Origin-Locations", call.origin.node().ring_label);
  co_return reply;
}

Task<Reply> get_peer_context(Call& call) {
  co_return text_reply(200, to_json(call.origin.node().peer_context) + "\n");
}

Task<Reply> get_blob(Call& call) {
  const auto digest = Digest::parse(call.parameters[1]);
  if (!digest) co_return bad_digest(digest.error());
  auto reply = co_await download_reply(call.origin, *digest, call.request);
  if (!reply) co_return kraken_error(reply.error());
  co_return *std::move(reply);
}

Task<Reply> prefetch_blob(Call& call) {
  const auto digest = Digest::parse(call.parameters[1]);
  if (!digest) co_return bad_digest(digest.error());
  const auto here = co_await call.origin.lookup().stat(*digest);
  if (!here) co_return kraken_error(here.error());
  co_return empty_reply(200);
}

Task<Reply> stat_blob(Call& call) {
  // Whether to ask the backend too: there is none yet, but a bad word is still a mistake.
  const auto local = call.request.argument("local");
  if (local && !parse_bool(*local)) {
    co_return kraken_error(400, "invalid local argument: expected a boolean");
  }
  const auto digest = Digest::parse(call.parameters[1]);
  if (!digest) co_return bad_digest(digest.error());
  const auto here = co_await call.origin.lookup().stat(*digest);
  if (!here) co_return kraken_error(here.error());
  auto reply = empty_reply(200);
  reply.content_length = here->record.size_bytes;
  co_return reply;
}

Task<Reply> get_metainfo(Call& call) {
  const auto digest = Digest::parse(call.parameters[1]);
  if (!digest) co_return bad_digest(digest.error());
  auto metainfo = co_await call.origin.metainfo().get(*digest);
  if (!metainfo) co_return kraken_error(metainfo.error());
  Reply reply(200);
  reply.content_type = kJson;
  reply.metainfo = *std::move(metainfo);
  co_return reply;
}

}  // namespace orlop
