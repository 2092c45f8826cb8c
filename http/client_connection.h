#pragma once

#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/buffer_body.hpp>
#include <boost/beast/http/parser.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/asio.h"
#include "base/result.h"
#include "http/endpoint.h"

namespace orlop {

/// What we ask another server. Its text comes from us: no line ends in it.
struct HttpRequest {
  std::string method;
  std::string target;  ///< Percent-encoded.
  std::vector<std::pair<std::string, std::string>> fields;
  std::uint64_t body_bytes = 0;
};

/// The head of what it answered: a stranger's text.
struct HttpAnswer {
  unsigned status = 0;
  std::vector<std::pair<std::string, std::string>> fields;
  std::optional<std::uint64_t> content_length;

  /// The first field of this name, in any case.
  std::optional<std::string_view> field(std::string_view name) const;
};

struct HttpTextAnswer {
  HttpAnswer head;
  std::string text;
};

/// One connection to one server, kept open between requests: connects when first needed, and again
/// if the server has closed it meanwhile. One request at a time, from one reactor.
///
/// A body goes out as `write` is called and comes in as `read_some` is, so neither is ever in
/// memory as a whole. `unavailable` if the server cannot be reached, hangs up, or is silent for too
/// long (each wait has a limit, the whole has none); `corrupt` if what it sends is no HTTP/1.1.
/// After an error the next request begins with a new connection.
class ClientConnection {
 public:
  struct Limits {
    std::chrono::milliseconds connect_max{5'000};
    std::chrono::milliseconds silence_max{60'000};  ///< Without any byte in or out.
    std::uint32_t head_bytes_max = 64 << 10;
  };

  ClientConnection(const Executor& executor, Endpoint server)
      : ClientConnection(executor, std::move(server), {}) {}
  ClientConnection(const Executor& executor, Endpoint server, Limits limits);
  ~ClientConnection() { stop_watching(); }
  ClientConnection(const ClientConnection&) = delete;
  ClientConnection& operator=(const ClientConnection&) = delete;

  const Endpoint& server() const { return server_; }

  /// Sends the head of a request. What is left of the answer before is thrown away.
  Task<Result<>> begin(const HttpRequest& request);
  /// Sends some of its body. False if the server has answered already: then it wants no more, and
  /// the answer is to be read.
  Task<Result<bool>> write(std::span<const std::byte> bytes);
  /// Waits for the answer's head, over any 1xx. `to_head`: the request was a HEAD, so no body
  /// comes.
  Task<Result<HttpAnswer>> answer(bool to_head = false);
  /// Some of the answer's body; 0 at its end. `corrupt` if the server stops short of it.
  Task<Result<std::size_t>> read_some(std::span<std::byte> into);
  /// All that is left of it. `corrupt` if that is more than `bytes_max`.
  Task<Result<std::string>> read_text(std::size_t bytes_max);

  /// A whole exchange of small things.
  Task<Result<HttpTextAnswer>> exchange(const HttpRequest& request, std::string_view body = {},
                                        std::size_t bytes_max = 1 << 20);

 private:
  using Stream = boost::beast::basic_stream<asio::ip::tcp, Executor>;
  using Parser = boost::beast::http::response_parser<boost::beast::http::buffer_body>;

  /// Looks for an answer, or the end, while a body is being sent. Shared with the pending wait.
  struct Watch {
    bool armed = true;
    bool readable = false;
  };

  Task<Result<>> connect();
  void watch();
  void stop_watching();
  bool usable();
  void drop();
  Error failed(std::string_view doing, const boost::system::error_code& error);

  const Executor executor_;
  const Endpoint server_;
  const Limits limits_;
  std::optional<Stream> stream_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;       ///< Of the answer that is being read.
  std::uint64_t body_bytes_left_ = 0;  ///< Of the request.
  std::shared_ptr<Watch> watch_;
};

}  // namespace orlop
