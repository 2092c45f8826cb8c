#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/json_writer.h"
#include "server/download.h"
#include "server/handlers.h"
#include "server/receive.h"

namespace orlop {
namespace {

Reply bad_digest(const Error& error, const Request& request) {
  return json_error(400, "invalid_argument",
                    "the path must end in 64 lower-case hex digits: " + error.detail(), request);
}

/// Stands in for the digest of bytes that will name themselves. Such an upload lies where blobs of
/// the shard ff do: in upload_dir, since Kraken made links for shards of digits only.
constexpr Digest kUnnamed({0xff});

std::string blob_path(Digest digest) { return "/cas/" + digest.hex(); }

Reply stored(unsigned status, Digest digest, std::uint64_t size_bytes) {
  std::string json = R"({"digest":)";
  append_json_string(json, digest.to_string());
  json += R"(,"size":)";
  append_json_number(json, size_bytes);
  json += "}\n";
  auto reply = text_reply(status, std::move(json), kJson);
  reply.fields.emplace_back("Location", blob_path(digest));
  return reply;
}

/// Stores the request's body as one blob. `expected` empty: its bytes name it.
Task<Reply> store_body(Call& call, std::optional<Digest> expected) {
  auto& uploads = call.origin.uploads();
  const auto& request = call.request;
  auto single = co_await uploads.begin_single(expected.value_or(kUnnamed),
                                              request.content_length.value_or(0));
  if (!single) co_return json_error(single.error(), request, expected);
  auto& writer = single->writer;

  const auto received = co_await receive(call.body, writer, uploads.upload_bytes_max());
  if (!received || *received == Received::cut) {
    const bool ours = !received && received.error().code() != Errc::invalid_argument;
    if (!ours) {
      (void)co_await writer.finish();
      co_await uploads.abandon_single(single->upload);
    }
    auto reply = received
                     ? json_error(400, "invalid_argument", "the body was cut", request, expected)
                     : json_error(received.error(), request, expected);
    reply.close = true;
    co_return reply;
  }
  if (auto written = co_await writer.finish(); !written) {
    co_return json_error(written.error(), request, expected);
  }
  CommitNote note;  // Named: see "GCC 12 and co_await" in CONTRIBUTING.md.
  const auto committed = co_await uploads.commit_single(single->upload, expected, std::move(note));
  if (!committed) co_return json_error(committed.error(), request, expected);
  co_return stored(committed->was_here ? 200 : 201, committed->digest, committed->size_bytes);
}

}  // namespace

Task<Reply> put_cas_blob(Call& call) {
  const auto digest = Digest::parse_hex(call.parameters[0]);
  if (!digest) co_return bad_digest(digest.error(), call.request);
  const auto here = co_await call.origin.lookup().stat_verified(*digest);
  // The body is not read: it could only be what is here already, or wrong.
  if (here) co_return stored(200, *digest, here->size_bytes);
  if (here.error().code() != Errc::not_found) {
    co_return json_error(here.error(), call.request, *digest);
  }
  co_return co_await store_body(call, *digest);
}

Task<Reply> post_cas_blob(Call& call) { return store_body(call, std::nullopt); }

Task<Reply> get_cas_blob(Call& call) {
  const auto digest = Digest::parse_hex(call.parameters[0]);
  if (!digest) co_return bad_digest(digest.error(), call.request);
  auto reply = co_await download_reply(call.origin, *digest, call.request);
  if (!reply) co_return json_error(reply.error(), call.request, *digest);
  co_return *std::move(reply);
}

Task<Reply> delete_cas_blob(Call& call) {
  const auto digest = Digest::parse_hex(call.parameters[0]);
  if (!digest) co_return bad_digest(digest.error(), call.request);
  const auto removed = co_await call.origin.removal().remove(*digest);
  if (!removed) co_return json_error(removed.error(), call.request, *digest);
  co_return empty_reply(204);
}

}  // namespace orlop
