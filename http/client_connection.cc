#include "http/client_connection.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/asio/connect.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/read.hpp>
#include <utility>

#include "base/ascii.h"
#include "base/check.h"

namespace orlop {
namespace {

namespace beast = boost::beast;
namespace http = boost::beast::http;

using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;

constexpr std::string_view kUserAgent = "orlop";

std::string head_of(const HttpRequest& request, const Endpoint& server) {
  std::string head = request.method + " " + request.target + " HTTP/1.1\r\n";
  head += "Host: " + server.to_string() + "\r\n";
  head += "User-Agent: " + std::string(kUserAgent) + "\r\n";
  for (const auto& [name, value] : request.fields) {
    head += name;
    head += ": ";
    head += value;
    head += "\r\n";
  }
  if (request.body_bytes > 0 || request.method == "POST" || request.method == "PUT" ||
      request.method == "PATCH") {
    head += "Content-Length: " + std::to_string(request.body_bytes) + "\r\n";
  }
  return head + "\r\n";
}

}  // namespace

std::optional<std::string_view> HttpAnswer::field(std::string_view name) const {
  for (const auto& [field_name, value] : fields) {
    if (equal_ignoring_case(field_name, name)) return value;
  }
  return std::nullopt;
}

ClientConnection::ClientConnection(const Executor& executor, Endpoint server, Limits limits)
    : executor_(executor), server_(std::move(server)), limits_(limits) {}

Error ClientConnection::failed(std::string_view doing, const boost::system::error_code& error) {
  drop();
  // Beast's own word for a limit that passed is "The socket was closed due to a timeout".
  const bool timed_out = error == beast::error::timeout;
  return Error(Errc::unavailable, std::string(doing) + " " + server_.to_string() + ": " +
                                      (timed_out ? "no answer in time" : error.message()));
}

/// A server that wants no more of a body says so and stops reading: then no write would ever end.
void ClientConnection::watch() {
  watch_ = std::make_shared<Watch>();
  stream_->socket().async_wait(asio::socket_base::wait_read,
                               [this, watch = watch_](const boost::system::error_code& error) {
                                 if (error || !watch->armed)
                                   return;  // Disarmed also means that `this` may be gone.
                                 watch->readable = true;
                                 stream_->cancel();  // The write.
                               });
}

void ClientConnection::stop_watching() {
  if (watch_ != nullptr) watch_->armed = false;
  watch_.reset();
}

void ClientConnection::drop() {
  stop_watching();
  parser_.reset();
  stream_.reset();
  buffer_.clear();
  body_bytes_left_ = 0;
}

/// Whether the connection from before can carry one more request.
bool ClientConnection::usable() {
  if (!stream_) return false;
  if (body_bytes_left_ > 0) return false;
  if (parser_ && (!parser_->is_done() || !parser_->keep_alive())) return false;
  // What comes between an answer and the next request is the end, or nonsense.
  char byte = 0;
  const auto count = ::recv(stream_->socket().native_handle(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) && buffer_.size() == 0;
}

Task<Result<>> ClientConnection::connect() {
  drop();
  Resolver resolver(executor_);
  SteadyTimer timer(executor_, limits_.connect_max);
  timer.async_wait([&resolver](const boost::system::error_code& error) {
    if (!error) resolver.cancel();
  });
  const auto [unknown, addresses] =
      co_await resolver.async_resolve(server_.host, std::to_string(server_.port), no_throw);
  timer.cancel();
  if (unknown) co_return failed("look up", unknown);
  stream_.emplace(executor_);
  stream_->expires_after(limits_.connect_max);
  const auto [error, where] = co_await stream_->async_connect(addresses, no_throw);
  if (error) co_return failed("connect to", error);
  boost::system::error_code ignored;
  stream_->socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  co_return Result<>();
}

Task<Result<>> ClientConnection::begin(const HttpRequest& request) {
  if (!usable()) {
    if (auto connected = co_await connect(); !connected) co_return std::move(connected).error();
  }
  parser_.reset();
  body_bytes_left_ = request.body_bytes;
  const auto head = head_of(request, server_);
  stream_->expires_after(limits_.silence_max);
  const auto [error, count] = co_await asio::async_write(*stream_, asio::buffer(head), no_throw);
  if (error) co_return failed("send to", error);
  if (body_bytes_left_ > 0) watch();
  co_return Result<>();
}

Task<Result<bool>> ClientConnection::write(std::span<const std::byte> bytes) {
  ORLOP_CHECK(stream_ && bytes.size() <= body_bytes_left_);
  while (!bytes.empty()) {
    if (watch_->readable) co_return false;
    stream_->expires_after(limits_.silence_max);
    const auto [failure, count] =
        co_await stream_->async_write_some(asio::buffer(bytes.data(), bytes.size()), no_throw);
    if (failure == beast::error::timeout) co_return failed("send to", failure);
    // It has answered, or hung up while we sent: perhaps with an answer that says why.
    if (failure) co_return false;
    body_bytes_left_ -= count;
    bytes = bytes.subspan(count);
  }
  co_return true;
}

Task<Result<HttpAnswer>> ClientConnection::answer(bool to_head) {
  ORLOP_CHECK(stream_);
  stop_watching();
  for (;;) {
    parser_.emplace();
    parser_->header_limit(limits_.head_bytes_max);
    parser_->body_limit(boost::none);  // Readers have limits of their own.
    parser_->skip(to_head);
    stream_->expires_after(limits_.silence_max);
    const auto [error, count] =
        co_await http::async_read_header(*stream_, buffer_, *parser_, no_throw);
    if (error) co_return failed("no answer from", error);
    if (parser_->get().result_int() / 100 != 1) break;
  }
  const auto& message = parser_->get();
  HttpAnswer head;
  head.status = message.result_int();
  for (const auto& field : message) {
    head.fields.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  if (const auto length = parser_->content_length()) head.content_length = *length;
  co_return head;
}

Task<Result<std::size_t>> ClientConnection::read_some(std::span<std::byte> into) {
  ORLOP_CHECK(stream_ && parser_ && !into.empty());
  while (!parser_->is_done()) {
    auto& body = parser_->get().body();
    body.data = into.data();
    body.size = into.size();
    stream_->expires_after(limits_.silence_max);
    const auto [error, count] =
        co_await http::async_read_some(*stream_, buffer_, *parser_, no_throw);
    if (error && error != http::error::need_buffer) {
      const bool cut = error == http::error::partial_message || error == asio::error::eof;
      auto failure = failed("read from", error);
      if (cut) failure = Error(Errc::corrupt, server_.to_string() + " stopped within its answer");
      co_return failure;
    }
    const auto got = into.size() - parser_->get().body().size;
    if (got > 0) co_return got;
  }
  co_return std::size_t{0};
}

Task<Result<std::string>> ClientConnection::read_text(std::size_t bytes_max) {
  std::string text;
  std::array<std::byte, 4096> part;
  for (;;) {
    const auto count = co_await read_some(part);
    if (!count) co_return count.error();
    if (*count == 0) co_return text;
    if (*count > bytes_max - text.size()) {
      drop();
      co_return Error(Errc::corrupt, server_.to_string() + " answered more than " +
                                         std::to_string(bytes_max) + " bytes");
    }
    text.append(reinterpret_cast<const char*>(part.data()), *count);
  }
}

Task<Result<HttpTextAnswer>> ClientConnection::exchange(const HttpRequest& request,
                                                        std::string_view body,
                                                        std::size_t bytes_max) {
  ORLOP_CHECK(request.body_bytes == body.size());
  if (auto begun = co_await begin(request); !begun) co_return std::move(begun).error();
  const auto sent = co_await write(std::as_bytes(std::span(body.data(), body.size())));
  if (!sent) co_return sent.error();
  auto head = co_await answer(request.method == "HEAD");
  if (!head) co_return std::move(head).error();
  auto text = co_await read_text(bytes_max);
  if (!text) co_return std::move(text).error();
  HttpTextAnswer whole{.head = *std::move(head), .text = *std::move(text)};
  co_return std::move(whole);
}

}  // namespace orlop
