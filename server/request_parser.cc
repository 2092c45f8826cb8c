#include "server/request_parser.h"

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

namespace orlop {
namespace {

/// Splits a request target into path and query (RFC 9112, section 3.2). The absolute form loses its
/// scheme and authority; a server must accept it. False for what is no target of ours.
bool split_target(std::string_view target, Request& request) {
  for (const std::string_view scheme : {"http://", "https://"}) {
    if (!equal_ignoring_case(target.substr(0, scheme.size()), scheme)) continue;
    target.remove_prefix(scheme.size());
    const auto path = target.find_first_of("/?");
    target = path == std::string_view::npos ? "/" : target.substr(path);
    break;
  }
  const auto question = target.find('?');
  request.path = target.substr(0, question);
  if (question != std::string_view::npos) request.query = target.substr(question + 1);
  return target.starts_with('/') || target == "*";
}

}  // namespace

void RequestParser::on_request_impl(http::verb method, Text method_text, Text target, int version,
                                    Ec& ec) {
  request_.method = method;
  request_.method_text.assign(method_text.data(), method_text.size());
  request_.version = static_cast<unsigned>(version);
  if (version != 10 && version != 11) ec = http::error::bad_version;
  const std::string_view text(target.data(), target.size());
  if (!split_target(text, request_)) ec = http::error::bad_target;
}

/// Beast's own limit holds for what it has not taken yet. A head that comes field by field would
/// pass it for ever.
void RequestParser::on_field_impl(http::field, Text name_text, Text value, Ec& ec) {
  if (is_header_done()) return;  // A trailer (RFC 9110, section 6.5.1): the head is in use already.
  field_bytes_ += name_text.size() + value.size() + std::string_view(": \r\n").size();
  if (field_bytes_ > header_bytes_max_) {
    ec = http::error::header_limit;
    return;
  }
  request_.fields.emplace_back(std::string(name_text), std::string(value));
}

/// Any ambiguity in the framing is refused: two readers that disagree where a request ends are how
/// requests are smuggled past a proxy (RFC 9112, section 11.2).
void RequestParser::on_header_impl(Ec& ec) {
  const auto lengths = request_.count("Content-Length");
  const auto encodings = request_.count("Transfer-Encoding");
  if (lengths > 1) ec = http::error::multiple_content_length;
  if (encodings > 1) ec = http::error::bad_transfer_encoding;
  if (lengths + encodings > 1) ec = http::error::bad_transfer_encoding;
  if (encodings == 1 && !equal_ignoring_case(*request_.field("Transfer-Encoding"), "chunked")) {
    ec = http::error::bad_transfer_encoding;
  }
  if (encodings == 1 && request_.version == 10) ec = http::error::bad_transfer_encoding;
  // Beast takes a list of equal lengths for one.
  if (lengths == 1 && request_.field("Content-Length")->find(',') != std::string_view::npos) {
    ec = http::error::multiple_content_length;
  }
  // Beyond what any file can have, and what others would read as a negative number.
  constexpr std::uint64_t kLengthMax = std::numeric_limits<std::int64_t>::max();
  if (content_length().value_or(0) > kLengthMax) ec = http::error::bad_content_length;
  const auto hosts = request_.count("Host");
  if (hosts > 1 || (hosts == 0 && request_.version == 11)) ec = http::error::bad_value;
}

void RequestParser::on_body_init_impl(const boost::optional<std::uint64_t>&, Ec&) {}

std::size_t RequestParser::take(Text body) {
  const auto count = std::min(body.size(), output_.size() - output_used_);
  if (count == 0) return 0;
  auto* to = output_.data() + output_used_;
  if (static_cast<const void*>(to) != body.data()) std::memcpy(to, body.data(), count);
  output_used_ += count;
  return count;
}

std::size_t RequestParser::on_body_impl(Text body, Ec&) { return take(body); }

void RequestParser::on_chunk_header_impl(std::uint64_t, Text, Ec&) {}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, Text body, Ec&) { return take(body); }

void RequestParser::on_finish_impl(Ec&) {}

}  // namespace orlop
