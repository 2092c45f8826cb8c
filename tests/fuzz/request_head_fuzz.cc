// RequestParser takes the first bytes of a connection from strangers, and TCP cuts them anywhere.
// Property: a head that is complete is complete, and the same, however it was cut; one that is
// refused whole is never accepted in parts. The first two bytes of the input say where to cut.

#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "server/request_parser.h"

namespace {

constexpr std::uint32_t kHeaderBytesMax = 64 << 10;

/// A parser with what it has not yet taken, as a session has them.
struct Reader {
  /// False once the head is refused.
  bool receive(std::string_view bytes) {
    buffer += bytes;
    if (refused || parser.is_header_done()) return !refused;
    boost::system::error_code error;
    buffer.erase(0, parser.put(boost::asio::buffer(buffer), error));
    refused = error && error != orlop::http::error::need_more;
    return !refused;
  }

  orlop::RequestParser parser{kHeaderBytesMax};
  std::string buffer;
  bool refused = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > kHeaderBytesMax) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const auto wanted = static_cast<std::size_t>(data[0] | data[1] << 8);
  const auto cut = bytes.empty() ? 0 : wanted % bytes.size();

  Reader whole;
  whole.receive(bytes);
  Reader parts;
  if (parts.receive(bytes.substr(0, cut))) parts.receive(bytes.substr(cut));

  const bool complete = !whole.refused && whole.parser.is_header_done();
  ORLOP_CHECK(complete == (!parts.refused && parts.parser.is_header_done()));
  if (!complete) return 0;
  const auto& one = whole.parser.request();
  const auto& other = parts.parser.request();
  ORLOP_CHECK(one.method == other.method);
  ORLOP_CHECK(one.method_text == other.method_text);
  ORLOP_CHECK(one.path == other.path);
  ORLOP_CHECK(one.query == other.query);
  ORLOP_CHECK(one.version == other.version);
  ORLOP_CHECK(one.fields == other.fields);
  ORLOP_CHECK(whole.parser.chunked() == parts.parser.chunked());
  ORLOP_CHECK(whole.parser.content_length() == parts.parser.content_length());
  ORLOP_CHECK(whole.parser.keep_alive() == parts.parser.keep_alive());
  ORLOP_CHECK(whole.buffer == parts.buffer);

  // The framing is never in doubt.
  ORLOP_CHECK(one.count("Content-Length") + one.count("Transfer-Encoding") <= 1);
  ORLOP_CHECK(whole.parser.chunked() == (one.count("Transfer-Encoding") == 1));
  ORLOP_CHECK(one.path.starts_with('/') || one.path == "*");
  return 0;
}
