#include "server/session.h"

#include <algorithm>
#include <array>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "server/body.h"
#include "server/request_parser.h"

namespace orlop {
namespace {

constexpr std::size_t kReadBytes = 16 * 1024;
/// How long and how much is read from a client that was answered before it had sent everything.
constexpr std::chrono::seconds kLingerMax{5};
constexpr std::uint64_t kLingerBytesMax = std::uint64_t{256} << 20;

std::string http_date() {
  const auto now = std::time(nullptr);
  std::tm parts = {};
  ::gmtime_r(&now, &parts);
  std::array<char, 40> text;
  const auto length = std::strftime(text.data(), text.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  return std::string(text.data(), length);
}

enum class Head : std::uint8_t { complete, hung_up, malformed, too_large };

/// A header line that continues on the next one means different things to different readers.
bool has_folded_line(std::string_view head) {
  return head.find("\r\n ") != std::string_view::npos ||
         head.find("\r\n\t") != std::string_view::npos;
}

/// A blank behind the value of a field that frames the body. It is not part of the value (RFC 9112,
/// section 5.1), but not every reader knows that, and `chunked ` is no coding to one that does not.
bool has_blank_after_framing(std::string_view head) {
  while (!head.empty()) {
    const auto line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    if (!line.ends_with(' ') && !line.ends_with('\t')) continue;
    const auto name = line.substr(0, line.find(':'));
    if (equal_ignoring_case(name, "Content-Length")) return true;
    if (equal_ignoring_case(name, "Transfer-Encoding")) return true;
  }
  return false;
}

/// An empty line before a request is skipped: some clients send one too many after a body (RFC
/// 9112, section 2.2).
void skip_empty_line(boost::beast::flat_buffer& buffer) {
  const auto data = buffer.data();
  const std::string_view text(static_cast<const char*>(data.data()), data.size());
  if (text.starts_with("\r\n")) buffer.consume(2);
}

/// Perhaps the first half of an empty line.
bool is_lone_cr(const boost::beast::flat_buffer& buffer) {
  return buffer.size() == 1 && *static_cast<const char*>(buffer.data().data()) == '\r';
}

/// Reads until the head is complete. The parser remembers where it stopped looking for the end, so
/// a head that comes in drips is not scanned again and again.
Task<Head> read_head(Connection& connection, RequestParser& parser, const SessionOptions& options) {
  auto& buffer = connection.buffer;
  connection.idle = true;
  connection.expect_progress(options.idle_max);
  bool begun = false;
  bool ambiguous = false;
  for (;;) {
    if (!begun) skip_empty_line(buffer);
    if (buffer.size() > 0 && (begun || !is_lone_cr(buffer))) {
      if (!begun) connection.expect_progress(options.header_max);  // For all of the head.
      begun = true;
      connection.idle = false;
      boost::system::error_code error;
      const auto data = buffer.data();
      const auto consumed = parser.put(data, error);
      const std::string_view head(static_cast<const char*>(data.data()), consumed);
      // The parser takes a head as it comes, but each line at once.
      ambiguous = ambiguous || has_folded_line(head) || has_blank_after_framing(head);
      buffer.consume(consumed);
      if (error == http::error::header_limit) co_return Head::too_large;
      if (error && error != http::error::need_more) co_return Head::malformed;
      if (parser.is_header_done()) co_return ambiguous ? Head::malformed : Head::complete;
      if (buffer.size() >= options.header_bytes_max) co_return Head::too_large;
    }
    const auto [error, count] =
        co_await connection.socket.async_read_some(buffer.prepare(kReadBytes), no_throw);
    if (error) co_return Head::hung_up;
    connection.received(count);
    buffer.commit(count);
  }
}

/// Takes over what only the parser knows of a complete head. False if the client expects what we do
/// not know (RFC 9110, section 10.1.1).
bool complete_request(RequestParser& parser) {
  auto& request = parser.request();
  request.chunked = parser.chunked();
  if (const auto length = parser.content_length()) request.content_length = *length;
  request.keep_alive = parser.keep_alive();
  const auto expect = request.field("Expect");
  if (!expect) return true;
  request.expects_continue = equal_ignoring_case(*expect, "100-continue");
  return request.expects_continue;
}

/// The client may still be sending what we will not read. If we just closed, the kernel would
/// reset the connection, and the reset could destroy our answer before the client has read it.
Task<> linger(Connection& connection) {
  boost::system::error_code ignored;
  connection.socket.shutdown(Socket::shutdown_send, ignored);
  connection.expect_progress(kLingerMax);
  connection.buffer.clear();
  std::uint64_t received = 0;
  while (received < kLingerBytesMax) {
    const auto [error, count] =
        co_await connection.socket.async_read_some(connection.buffer.prepare(kReadBytes), no_throw);
    if (error) co_return;
    connection.received(count);
    received += count;
  }
}

void log_request(const Request& request, const Reply& reply) {
  // What is shed has a line for many: a flood must not be paid for twice.
  const bool notable = (reply.status >= 500 && !reply.shed) || reply.status == 403;
  const auto level = notable ? LogLevel::warn : LogLevel::debug;
  log_line(level, "request",
           {{"id", request.id},
            {"peer", request.peer.to_string()},
            {"method", request.method_text},
            {"path", request.path},
            {"status", reply.status},
            {"bytes", reply.body_bytes()},
            {"error", reply.status >= 400 ? reply.text : std::string()}});
}

/// One request and its answer. True if the connection can take another one.
Task<bool> serve_request(Connection& connection, ConnectionGroup& group,
                         const SessionContext& context, std::string id) {
  const auto& options = context.options;
  RequestParser parser(options.header_bytes_max);
  const auto head = co_await read_head(connection, parser, options);
  if (head == Head::hung_up) co_return false;
  connection.expect_nothing();
  const auto begun = Connection::Clock::now();

  Reply reply(400);
  const bool well_formed = head == Head::complete;
  const bool expectation_known = !well_formed || complete_request(parser);
  parser.request().id = std::move(id);
  boost::system::error_code ignored;
  parser.request().peer = connection.socket.remote_endpoint(ignored).address();
  const auto& request = parser.request();
  Body body(connection, parser, options.progress_max);
  if (head == Head::too_large) {
    reply = text_reply(431, "the request's header is larger than server.header_bytes_max\n");
  } else if (!well_formed) {
    reply = text_reply(400, "malformed request\n");
  } else if (!expectation_known) {
    reply = text_reply(417, "only Expect: 100-continue is understood\n");
  } else {
    reply = co_await context.router.answer(request, body, context.origin, context.health);
  }
  log_request(request, reply);

  bool keep_alive = well_formed && expectation_known && request.keep_alive && !reply.close &&
                    !group.draining() && body.cheap_to_skip();
  // Before the answer, as Go's server does: curl, for one, closes when it hears of an error while
  // it is still sending.
  if (keep_alive) keep_alive = co_await body.skip(Body::kSkipBytesMax);
  const auto date = http_date();
  const SendOptions send_options{.silence_max = options.progress_max};
  const bool sent = co_await send_reply(connection, reply, request, keep_alive, date,
                                        context.origin.pool(), send_options);
  reply.slot.release();  // Not only when the client has taken note of the end.
  const auto took = Connection::Clock::now() - begun;
  group.counts.answered(reply.route_class, reply.status, took, sent);
  if (!sent) co_return false;
  if (keep_alive) co_return true;
  if (!well_formed || !body.done()) co_await linger(connection);
  co_return false;
}

}  // namespace

Task<> serve(Socket socket, ConnectionGroup& group, const SessionContext& context,
             std::uint64_t connection_number) {
  Connection connection(std::move(socket), group);
  std::uint64_t request_number = 0;
  while (!group.draining()) {
    auto id = std::to_string(connection_number) + "-" + std::to_string(++request_number);
    if (!co_await serve_request(connection, group, context, std::move(id))) break;
  }
  boost::system::error_code ignored;
  connection.socket.shutdown(Socket::shutdown_send, ignored);
}

}  // namespace orlop
