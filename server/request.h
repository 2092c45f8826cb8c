#pragma once

#include <boost/beast/http/verb.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/asio.h"

namespace orlop {

namespace http = boost::beast::http;

/// The head of one request, as it came. Everything in it is a stranger's text: bounded in length
/// (server.header_bytes_max) and otherwise unchecked.
struct Request {
  http::verb method = http::verb::unknown;
  std::string method_text;  ///< For methods that have no verb.
  std::string path;         ///< As sent, percent-escapes and all; begins with '/', or is "*".
  std::string query;        ///< Without the '?'; empty if there is none.
  unsigned version = 11;    ///< 10 or 11.
  std::vector<std::pair<std::string, std::string>> fields;  ///< In order, names as sent.

  std::optional<std::uint64_t> content_length;
  bool chunked = false;
  bool keep_alive = false;
  bool expects_continue = false;

  asio::ip::address peer;  ///< Of the TCP connection: the only one that counts.
  std::string id;          ///< Ours; in logs and errors.

  bool is_head() const { return method == http::verb::head; }

  /// The first field of this name, in any case.
  std::optional<std::string_view> field(std::string_view name) const;
  std::size_t count(std::string_view name) const;

  /// The first query argument of this name, percent-decoded ('+' is a plus). Empty optional if it
  /// is absent or its escapes are malformed.
  std::optional<std::string> argument(std::string_view name) const;
  /// How many query arguments have this name, malformed ones too.
  std::size_t argument_count(std::string_view name) const;
};

/// Decodes percent-escapes once. Nothing on a malformed escape, on NUL, and on what is not UTF-8:
/// names travel into logs, records and other systems.
std::optional<std::string> percent_decoded(std::string_view text);

}  // namespace orlop
