#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/content_range.h"
#include "core/duplicate_order.h"
#include "server/handlers.h"
#include "server/receive.h"

namespace orlop {
namespace {

/// The body of a duplicate commit is some twenty bytes.
constexpr std::size_t kOrderBytesMax = 4096;

/// Kraken checks an upload's parameters in this order: digest, namespace, uid.
struct UploadPath {
  Result<Digest> digest;
  std::string name_space;  ///< Empty on the internal paths.
  std::string uid;         ///< Empty at the start.
};

UploadPath public_path(const Call& call) {
  return {.digest = Digest::parse(call.parameters[1]),
          .name_space = call.parameters[0],
          .uid = call.parameters[2]};
}

UploadPath internal_path(const Call& call) {
  return {.digest = Digest::parse(call.parameters[0]), .name_space = {}, .uid = call.parameters[1]};
}

Reply bad_digest(const Error& error) {
  return kraken_error(400, "parse digest: " + error.detail());
}

/// Ours: how long the blob will be, so that an upload for which there is no space is refused here.
/// 0 if the client does not say.
Result<std::uint64_t> announced_size(const Request& request) {
  if (request.argument_count("size") == 0) return std::uint64_t{0};
  const auto text = request.argument("size").value_or("");
  std::uint64_t size_bytes = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, size_bytes);
  if (error == std::errc() && stop == end && request.argument_count("size") == 1) return size_bytes;
  return Error(Errc::invalid_argument, "invalid size: expected a whole number of bytes");
}

Task<Reply> start(Call& call, UploadPath path) {
  if (!path.digest) co_return bad_digest(path.digest.error());
  const auto size_bytes = announced_size(call.request);
  if (!size_bytes) co_return kraken_error(size_bytes.error());
  auto started = co_await call.origin.uploads().start(*path.digest, *size_bytes, std::nullopt);
  if (!started) co_return kraken_error(started.error());
  if (started->already_here()) co_return empty_reply(409);
  auto reply = empty_reply(200);
  reply.fields.emplace_back("Location", (**started).text());
  co_return reply;
}

/// What the header alone says against a chunk: the body cannot be what the range promises.
std::optional<Reply> length_refusal(const Request& request, ChunkRange range) {
  const auto promised = range.end - range.start;
  if (!request.content_length && !request.chunked && promised > 0) {
    return kraken_error(400, "the request has no body, but Content-Range promises " +
                                 std::to_string(promised) + " bytes");
  }
  if (!request.content_length || *request.content_length == promised) return std::nullopt;
  return kraken_error(400, "the body has " + std::to_string(*request.content_length) +
                               " bytes, but Content-Range promises " + std::to_string(promised));
}

Task<Reply> patch(Call& call, UploadPath path) {
  if (!path.digest) co_return bad_digest(path.digest.error());
  const auto range = parse_content_range(call.request.field("Content-Range"));
  if (!range) co_return kraken_error(range.error());

  auto begun = co_await call.origin.uploads().begin_chunk(*path.digest, path.uid, *range,
                                                          call.body.connection().interrupter());
  if (!begun) co_return kraken_error(begun.error());
  if (begun->already_here()) co_return empty_reply(409);
  auto& writer = **begun;
  if (auto refusal = length_refusal(call.request, *range)) {
    if (auto undone = co_await writer.undo(); !undone) co_return kraken_error(undone.error());
    co_return *std::move(refusal);
  }

  const auto promised = range->end - range->start;
  const auto received = co_await receive(call.body, writer, promised);
  if (!received && received.error().code() != Errc::invalid_argument) {
    co_return kraken_error(received.error());
  }
  if (received && *received == Received::cut) {
    // What arrived stays: the client may go on behind it, or send the whole chunk again.
    if (auto kept = co_await writer.finish(); !kept) co_return kraken_error(kept.error());
    auto reply = kraken_error(400, "the connection was cut");
    reply.close = true;
    co_return reply;
  }
  const bool complete = received && writer.received_bytes() == promised;
  if (!complete) {
    const auto got = writer.received_bytes();
    if (auto undone = co_await writer.undo(); !undone) co_return kraken_error(undone.error());
    auto reply = kraken_error(400, received ? "the body has " + std::to_string(got) +
                                                  " bytes, but Content-Range promises " +
                                                  std::to_string(promised)
                                            : received.error().detail());
    reply.close = !received;
    co_return reply;
  }
  if (auto kept = co_await writer.finish(); !kept) co_return kraken_error(kept.error());
  co_return empty_reply(200);
}

Task<Reply> commit(Call& call, UploadPath path, CommitNote note) {
  if (!path.digest) co_return bad_digest(path.digest.error());
  auto committed = co_await call.origin.uploads().commit(*path.digest, path.uid, std::move(note));
  if (!committed) co_return kraken_error(committed.error());
  co_return empty_reply(committed->was_here ? 409 : 200);
}

/// Ours: where a client that was cut off may go on.
Task<Reply> status(Call& call, UploadPath path) {
  if (!path.digest) co_return bad_digest(path.digest.error());
  const auto received = call.origin.uploads().received_bytes(*path.digest, path.uid);
  if (!received) co_return empty_reply(404);
  auto reply = empty_reply(204);
  reply.fields.emplace_back("Upload-Offset", std::to_string(*received));
  co_return reply;
}

Task<Reply> cancel(Call& call, UploadPath path) {
  if (!path.digest) co_return bad_digest(path.digest.error());
  const bool cancelled = co_await call.origin.uploads().cancel(*path.digest, path.uid);
  co_return empty_reply(cancelled ? 204 : 404);
}

}  // namespace

Task<Reply> start_public_upload(Call& call) { return start(call, public_path(call)); }
Task<Reply> patch_public_upload(Call& call) { return patch(call, public_path(call)); }
Task<Reply> get_public_upload(Call& call) { return status(call, public_path(call)); }
Task<Reply> cancel_public_upload(Call& call) { return cancel(call, public_path(call)); }
Task<Reply> get_internal_upload(Call& call) { return status(call, internal_path(call)); }
Task<Reply> cancel_internal_upload(Call& call) { return cancel(call, internal_path(call)); }
Task<Reply> start_internal_upload(Call& call) { return start(call, internal_path(call)); }
Task<Reply> patch_internal_upload(Call& call) { return patch(call, internal_path(call)); }

/// No namespace has a backend yet, so a public commit owes nobody a copy, and the blob, of which
/// this may be the only copy, is never evicted.
Task<Reply> commit_public_upload(Call& call) {
  return commit(call, public_path(call), CommitNote{});
}

/// From another origin, which has the blob too.
Task<Reply> commit_internal_upload(Call& call) {
  CommitNote note;
  note.backed = true;
  return commit(call, internal_path(call), std::move(note));
}

Task<Reply> commit_duplicate_upload(Call& call) {
  auto path = public_path(call);
  if (!path.digest) co_return bad_digest(path.digest.error());
  // Before the body is asked for.
  if (call.request.content_length.value_or(0) > kOrderBytesMax) {
    co_return kraken_error(400, "decode body: it is too long");
  }
  std::vector<std::byte> text(kOrderBytesMax);
  std::size_t used = 0;
  while (!call.body.done()) {
    if (used == text.size()) co_return kraken_error(400, "decode body: it is too long");
    const auto count = co_await call.body.read_some(std::span(text).subspan(used));
    if (!count) co_return kraken_error(count.error());
    used += *count;
  }
  const auto delay = parse_duplicate_order({reinterpret_cast<const char*>(text.data()), used});
  if (!delay) co_return kraken_error(delay.error());
  CommitNote note;
  note.write_back = WriteBackOrder{.name_space = path.name_space, .delay = *delay};
  co_return co_await commit(call, std::move(path), std::move(note));
}

}  // namespace orlop
