#include "server/body.h"

#include <algorithm>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/http/error.hpp>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace orlop {
namespace {

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
constexpr std::size_t kChunkedReadBytes = 64 * 1024;
/// For a chunk's header with its extensions, and for all trailers. Beast has no limit for them.
constexpr std::size_t kFramingBytesMax = 64 * 1024;

Error client_gone(const boost::system::error_code& error) {
  return Error(Errc::unavailable, "the client stopped sending: " + error.message());
}

}  // namespace

Task<Result<>> Body::say_continue() {
  continued_ = true;
  if (!parser_.request().expects_continue || connection_.buffer.size() > 0) co_return Result<>();
  const auto [error, written] =
      co_await asio::async_write(connection_.socket, asio::buffer(kContinue), no_throw);
  connection_.sent(written);
  if (error) co_return client_gone(error);
  co_return Result<>();
}

Task<Result<std::size_t>> Body::read_some(std::span<std::byte> into) {
  ORLOP_CHECK(!into.empty());
  if (!continued_) {
    if (auto said = co_await say_continue(); !said) co_return std::move(said).error();
  }
  while (!parser_.is_done()) {
    auto& buffer = connection_.buffer;
    if (buffer.size() > 0) {
      const auto before = buffer.size();
      auto parsed = parse(buffer.data().data(), before, into);
      if (!parsed) co_return std::move(parsed).error();
      buffer.consume(*parsed);
      if (parser_.output_used() > 0) co_return parser_.output_used();
      if (*parsed > 0) continue;  // A chunk's header or trailer.
      if (buffer.size() >= kFramingBytesMax) {
        co_return Error(Errc::invalid_argument,
                        "the request's body is malformed: a chunk's header is too long");
      }
    }
    auto received = co_await receive(into);
    if (!received) co_return std::move(received).error();
    if (*received > 0) co_return *received;
  }
  co_return std::size_t{0};
}

/// Waits for more. A body of known length goes straight to where it is wanted; a chunked one into
/// the buffer first, because its framing has to be taken out.
Task<Result<std::size_t>> Body::receive(std::span<std::byte> into) {
  auto& socket = connection_.socket;
  connection_.expect_progress(silence_max_);
  if (parser_.chunked()) {
    auto space = connection_.buffer.prepare(kChunkedReadBytes);
    const auto [error, count] = co_await socket.async_read_some(space, no_throw);
    connection_.expect_nothing();
    if (error) co_return client_gone(error);
    connection_.received(count);
    connection_.buffer.commit(count);
    co_return std::size_t{0};
  }
  const auto left = parser_.content_length_remaining().value_or(0);
  const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(into.size(), left));
  const auto [error, count] =
      co_await socket.async_read_some(asio::buffer(into.data(), size), no_throw);
  connection_.expect_nothing();
  if (error) co_return client_gone(error);
  connection_.received(count);
  auto parsed = parse(into.data(), count, into);
  if (!parsed) co_return std::move(parsed).error();
  co_return parser_.output_used();
}

Result<std::size_t> Body::parse(const void* data, std::size_t size, std::span<std::byte> into) {
  parser_.set_output(into);
  boost::system::error_code error;
  const auto consumed = parser_.put(asio::const_buffer(data, size), error);
  if (error && error != http::error::need_more) {
    return Error(Errc::invalid_argument, "the request's body is malformed: " + error.message());
  }
  return consumed;
}

bool Body::cheap_to_skip() const {
  if (parser_.is_done()) return true;
  if (parser_.chunked() || not_asked_for()) return false;
  return parser_.content_length_remaining().value_or(kSkipBytesMax + 1) <= kSkipBytesMax;
}

Task<bool> Body::skip(std::uint64_t bytes_max) {
  std::vector<std::byte> scrap(16 * 1024);
  std::uint64_t skipped = 0;
  while (!parser_.is_done() && skipped <= bytes_max) {
    const auto count = co_await read_some(scrap);
    if (!count) co_return false;
    skipped += *count;
  }
  co_return parser_.is_done();
}

}  // namespace orlop
