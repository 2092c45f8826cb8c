#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "server/connection.h"
#include "server/request_parser.h"

namespace orlop {

/// The body of the request that a connection is in, read piece by piece. A client that asked
/// "Expect: 100-continue" is told to go on by the first read, so a handler that refuses without
/// reading has refused before the bytes were sent.
class Body {
 public:
  Body(Connection& connection, RequestParser& parser, std::chrono::nanoseconds silence_max)
      : connection_(connection), parser_(parser), silence_max_(silence_max) {}

  /// Reads what there is, at least one byte, straight into `into`; 0 at the body's end.
  /// `invalid_argument` if the framing is broken, `unavailable` if the client is gone or silent.
  /// After an error nothing more can be read from the connection.
  Task<Result<std::size_t>> read_some(std::span<std::byte> into);

  /// Reads and forgets what is left, at most `bytes_max`. True if the end was reached.
  Task<bool> skip(std::uint64_t bytes_max);

  bool done() const { return parser_.is_done(); }
  /// The client still waits for "100 Continue": it sends nothing, and nobody must read.
  bool not_asked_for() const { return parser_.request_waits() && !continued_; }
  /// Whether skipping what is left is cheaper than a new connection.
  bool cheap_to_skip() const;

  Connection& connection() { return connection_; }

  static constexpr std::uint64_t kSkipBytesMax = 256 * 1024;  ///< As Go's server does.

 private:
  Task<Result<>> say_continue();
  Task<Result<std::size_t>> receive(std::span<std::byte> into);
  Result<std::size_t> parse(const void* data, std::size_t size, std::span<std::byte> into);

  Connection& connection_;
  RequestParser& parser_;
  const std::chrono::nanoseconds silence_max_;
  bool continued_ = false;
};

}  // namespace orlop
