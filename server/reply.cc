#include "server/reply.h"

#include <boost/beast/http/status.hpp>
#include <ostream>

#include "base/json_writer.h"
#include "server/conditions.h"
#include "server/status.h"

namespace orlop {
namespace {

void append_field(std::string& head, std::string_view name, std::string_view value) {
  head += name;
  head += ": ";
  head += value;
  head += "\r\n";
}

/// A repetition may help where the reason is our state, and will not where it is the request.
bool worth_retrying(unsigned status) { return status == 503; }

Reply unsatisfiable(std::uint64_t size_bytes) {
  Reply reply(416);
  reply.fields.emplace_back("Content-Range", "bytes */" + std::to_string(size_bytes));
  return reply;
}

/// The ranges that are to be sent. Nothing: the whole blob. Empty: none of those asked for touches
/// the blob.
std::optional<std::vector<ByteRange>> ranges_wanted(const Request& request, std::string_view etag,
                                                    std::uint64_t size_bytes) {
  const auto field = request.field("Range");
  // For GET only (RFC 9110, section 14.2). It is no list field: two of them contradict each other.
  if (!field || request.is_head() || request.count("Range") > 1) return std::nullopt;
  if (!range_applies(request, etag)) return std::nullopt;
  const auto ranges = parse_ranges(*field, size_bytes);
  if (!ranges) return std::nullopt;
  return coalesced(*ranges);
}

void cut(Reply& reply, ByteRange range, std::uint64_t size_bytes) {
  reply.status = 206;
  reply.content_type = kOctets;
  reply.blob_offset = range.first;
  reply.blob_length = range.length();
  reply.fields.emplace_back("Content-Range", "bytes " + std::to_string(range.first) + "-" +
                                                 std::to_string(range.last) + "/" +
                                                 std::to_string(size_bytes));
}

void cut_apart(Reply& reply, const std::vector<ByteRange>& ranges, std::uint64_t size_bytes) {
  const auto boundary = random_boundary();
  reply.status = 206;
  reply.fields.emplace_back("Content-Type", "multipart/byteranges; boundary=" + boundary);
  reply.multipart = std::make_unique<Multipart>(ranges, size_bytes, kOctets, boundary);
}

}  // namespace

std::uint64_t Reply::body_bytes() const {
  if (content_length) return *content_length;
  if (multipart != nullptr) return multipart->size_bytes();
  if (blob != nullptr) return blob_length;
  if (metainfo != nullptr) return metainfo->json().size();
  return text.size();
}

Reply text_reply(unsigned status, std::string text, std::string_view content_type) {
  Reply reply(status);
  reply.content_type = content_type;
  reply.text = std::move(text);
  return reply;
}

Reply kraken_error(unsigned status, std::string text) {
  auto reply = text_reply(status, std::move(text));
  if (reply.text.empty()) reply.content_type = {};
  if (worth_retrying(status)) reply.fields.emplace_back("Retry-After", "1");
  return reply;
}

Reply kraken_error(const Error& error) {
  const auto status = to_status(error.code());
  // Kraken's clients decide on the status alone; an absent blob or upload has no text there.
  return kraken_error(status, status == 404 ? std::string() : error.detail());
}

Reply json_error(unsigned status, std::string_view code, std::string_view message,
                 const Request& request, std::optional<Digest> digest) {
  std::string text = R"({"error":{"code":)";
  append_json_string(text, code);
  text += R"(,"message":)";
  append_json_string(text, message);
  if (digest) {
    text += R"(,"digest":)";
    append_json_string(text, digest->to_string());
  }
  text += R"(,"request_id":)";
  append_json_string(text, request.id);
  text += "}}\n";
  auto reply = text_reply(status, std::move(text), kJson);
  if (worth_retrying(status)) reply.fields.emplace_back("Retry-After", "1");
  return reply;
}

Reply json_error(const Error& error, const Request& request, std::optional<Digest> digest) {
  return json_error(to_status(error.code()), to_string(error.code()), error.detail(), request,
                    digest);
}

Reply blob_reply(OpenBlob blob, const Request& request) {
  const auto size = blob.size_bytes;
  const auto etag = '"' + blob.digest.to_string() + '"';
  Reply reply(200);
  reply.fields.emplace_back("ETag", etag);
  switch (check_preconditions(request, etag)) {
    case Precondition::not_modified: reply.status = 304; return reply;
    case Precondition::failed: reply.status = 412; return reply;
    case Precondition::met: break;
  }
  const auto ranges = ranges_wanted(request, etag, size);
  if (ranges && ranges->empty()) return unsatisfiable(size);

  reply.fields.emplace_back("Accept-Ranges", "bytes");
  if (!ranges) {
    reply.content_type = kOctets;
    reply.blob_length = size;
  } else if (ranges->size() == 1) {
    cut(reply, ranges->front(), size);
  } else {
    cut_apart(reply, *ranges, size);
  }
  reply.blob = std::make_unique<OpenBlob>(std::move(blob));
  return reply;
}

std::string head_of(const Reply& reply, const Request& request, bool keep_alive,
                    std::string_view date) {
  std::string head;
  head.reserve(256);
  head += "HTTP/1.1 ";
  head += std::to_string(reply.status);
  head += ' ';
  const auto reason = http::obsolete_reason(static_cast<http::status>(reply.status));
  head.append(reason.data(), reason.size());
  head += "\r\n";
  append_field(head, "Date", date);
  if (!reply.content_type.empty()) append_field(head, "Content-Type", reply.content_type);
  for (const auto& [name, value] : reply.fields) append_field(head, name, value);
  // RFC 9110, section 8.6: never with 204; and with 304 it would be the length of the blob.
  if (reply.status != 204 && reply.status != 304) {
    append_field(head, "Content-Length", std::to_string(reply.body_bytes()));
  }
  if (!keep_alive) {
    append_field(head, "Connection", "close");
  } else if (request.version == 10) {
    append_field(head, "Connection", "keep-alive");
  }
  head += "\r\n";
  return head;
}

}  // namespace orlop
