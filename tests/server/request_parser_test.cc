#include "server/request_parser.h"

#include <boost/beast/http/error.hpp>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace orlop {
namespace {

using namespace std::string_literals;

constexpr std::uint32_t kHeaderBytesMax = 4096;

/// What became of some bytes that came in portions, read as a session and its body read them: the
/// head first, then the body into a small buffer, until the request is over or broken.
struct Fed {
  Fed(std::string_view bytes, std::size_t portion, std::size_t output_bytes = 64)
      : output(output_bytes) {
    while (!parser.is_done() && !error) {
      if (take()) continue;
      if (bytes.empty()) break;
      buffer += bytes.substr(0, portion);
      bytes.remove_prefix(std::min(portion, bytes.size()));
    }
    left = buffer + std::string(bytes);
  }

  /// One step of the parser. False if it needs more bytes.
  bool take() {
    if (buffer.empty()) return false;
    parser.set_output(output);
    boost::system::error_code step;
    const auto consumed = parser.put(boost::asio::buffer(buffer), step);
    body.append(reinterpret_cast<const char*>(output.data()), parser.output_used());
    buffer.erase(0, consumed);
    if (step && step != http::error::need_more) error = step;
    return consumed > 0 || error;
  }

  RequestParser parser{kHeaderBytesMax};
  boost::system::error_code error;
  std::string body;
  std::string left;

 private:
  std::vector<std::byte> output;
  std::string buffer;
};

std::string post(std::string_view fields, std::string_view version = "HTTP/1.1") {
  return "POST /x " + std::string(version) + "\r\nHost: x\r\n" + std::string(fields) + "\r\n";
}

TEST_CASE("request parser: fills the request with what was sent") {
  Fed fed("PATCH /a%2Fb/c?d=e&f HTTP/1.1\r\nHost: x\r\nX-Odd:  a b\t \r\nX-Odd: c\r\n\r\n", 1000);

  REQUIRE_FALSE(fed.error);
  const auto& request = fed.parser.request();
  CHECK(request.method == http::verb::patch);
  CHECK(request.method_text == "PATCH");
  CHECK(request.path == "/a%2Fb/c");
  CHECK(request.query == "d=e&f");
  CHECK(request.version == 11);
  CHECK(request.fields == std::vector<std::pair<std::string, std::string>>{
                              {"Host", "x"}, {"X-Odd", "a b"}, {"X-Odd", "c"}});
}

TEST_CASE("request parser: the target is a path, also in absolute form (RFC 9112, 3.2)") {
  struct Case {
    std::string target;
    std::string path;  ///< Empty: refused.
    std::string query;
  };
  const auto one = GENERATE(values<Case>({
      {"/", "/", ""},
      {"/a/b?c=/d?e", "/a/b", "c=/d?e"},
      {"/?", "/", ""},
      {"//a", "//a", ""},
      {"/a/../b", "/a/../b", ""},
      {"http://h/a?b", "/a", "b"},
      {"http://h:80/a", "/a", ""},
      {"HTTPS://h/a", "/a", ""},
      {"http://h", "/", ""},
      {"http://user@h//a", "//a", ""},
      {"/http://h/a", "/http://h/a", ""},
      {"*", "*", ""},
      {"*a", "", ""},
      {"a", "", ""},
      {"h:443", "", ""},
      {"ftp://h/a", "", ""},
      {"http:/a", "", ""},
      {"?a", "", ""},
  }));
  INFO(one.target);

  Fed fed("GET " + one.target + " HTTP/1.1\r\nHost: x\r\n\r\n", 1000);

  CHECK(fed.error.failed() == one.path.empty());
  if (fed.error) return;
  CHECK(fed.parser.request().path == one.path);
  CHECK(fed.parser.request().query == one.query);
}

TEST_CASE("request parser: any doubt about the framing is refused") {
  struct Case {
    std::string what;
    std::string head;
  };
  const auto one = GENERATE(values<Case>({
      {"length and chunked", post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n")},
      {"chunked and length", post("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n")},
      {"length and an unknown coding", post("Content-Length: 4\r\nTransfer-Encoding: gzip\r\n")},
      {"two lengths", post("Content-Length: 4\r\nContent-Length: 5\r\n")},
      {"one length twice", post("Content-Length: 4\r\nContent-Length: 4\r\n")},
      {"one length twice, in another case", post("Content-Length: 4\r\ncontent-length: 4\r\n")},
      {"two lengths in a line", post("Content-Length: 4, 5\r\n")},
      {"one length twice in a line", post("Content-Length: 4, 4\r\n")},
      {"one length thrice in a line", post("Content-Length: 4,4,4\r\n")},
      {"a length and nothing in a line", post("Content-Length: 4,\r\n")},
      {"a signed length", post("Content-Length: +4\r\n")},
      {"a negative length", post("Content-Length: -4\r\n")},
      {"a hexadecimal length", post("Content-Length: 0x4\r\n")},
      {"an empty length", post("Content-Length:\r\n")},
      {"a length with a blank in it", post("Content-Length: 4 4\r\n")},
      {"a length above int64", post("Content-Length: 9223372036854775808\r\n")},
      {"a length above uint64", post("Content-Length: 18446744073709551620\r\n")},
      {"chunked twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")},
      {"chunked twice in a line", post("Transfer-Encoding: chunked, chunked\r\n")},
      {"a coding before chunked", post("Transfer-Encoding: gzip, chunked\r\n")},
      {"a coding after chunked", post("Transfer-Encoding: chunked, gzip\r\n")},
      {"an unknown coding", post("Transfer-Encoding: xchunked\r\n")},
      {"identity", post("Transfer-Encoding: identity\r\n")},
      {"chunked with a parameter", post("Transfer-Encoding: chunked;q=1\r\n")},
      {"chunked in HTTP/1.0", post("Transfer-Encoding: chunked\r\n", "HTTP/1.0")},
      {"a blank before the colon", post("Content-Length : 4\r\n")},
      {"a field without a name", post(": 4\r\n")},
      {"a field without a colon", post("Content-Length\r\n")},
      {"a line that begins with a blank", "POST /x HTTP/1.1\r\n Content-Length: 4\r\n\r\n"},
      {"a bare CR in a value", post("X-A: a\rb\r\n")},
      {"NUL in a value", post("X-A: a\0b\r\n"s)},
      {"NUL in a name", post("X\0A: b\r\n"s)},
      {"two hosts", post("Host: y\r\n")},
      {"no host", "POST /x HTTP/1.1\r\n\r\n"},
      {"HTTP/1.2", post("", "HTTP/1.2")},
      {"HTTP/2.0", post("", "HTTP/2.0")},
      {"HTTP/0.9", post("", "HTTP/0.9")},
      {"no version", "GET /x\r\nHost: x\r\n\r\n"},
      {"two blanks", "GET  /x HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"a control byte in the target", "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"a method with a control byte", "G\x01T / HTTP/1.1\r\nHost: x\r\n\r\n"},
      {"more than the header may have", post("X-A: " + std::string(kHeaderBytesMax, 'a') + "\r\n")},
  }));
  INFO(one.what);

  CHECK(Fed(one.head, one.head.size()).error);
  CHECK(Fed(one.head, 1).error);
}

TEST_CASE("request parser: what is not in doubt is understood") {
  struct Case {
    std::string head;
    std::optional<std::uint64_t> length;
    bool chunked;
  };
  const auto one = GENERATE(values<Case>({
      {post(""), std::nullopt, false},
      {post("Content-Length: 0\r\n"), 0, false},
      {post("Content-Length: 0004\r\n"), 4, false},
      {post("Content-Length: \t4 \r\n"), 4, false},
      {post("CONTENT-LENGTH: 9223372036854775807\r\n"), 9223372036854775807U, false},
      {post("Transfer-Encoding: chunked\r\n"), std::nullopt, true},
      {post("transfer-encoding:Chunked\r\n"), std::nullopt, true},
      {post("Content-Length: 4\r\n", "HTTP/1.0"), 4, false},
      {"POST /x HTTP/1.0\r\n\r\n", std::nullopt, false},
  }));
  INFO(one.head);

  Fed fed(one.head, 1000);

  REQUIRE_FALSE(fed.error);
  CHECK(fed.parser.is_header_done());
  CHECK(fed.parser.chunked() == one.chunked);
  const auto length = fed.parser.content_length();
  CHECK((length ? std::optional<std::uint64_t>(*length) : std::nullopt) == one.length);
}

TEST_CASE("request parser: a body of known length goes into outputs of any size, and no further") {
  const auto portion = GENERATE(as<std::size_t>(), 1, 3, 64, 1000);
  const auto output_bytes = GENERATE(as<std::size_t>(), 1, 7, 1000);
  CAPTURE(portion, output_bytes);

  Fed fed(post("Content-Length: 26\r\n") + "abcdefghijklmnopqrstuvwxyzGET /next", portion,
          output_bytes);

  CHECK_FALSE(fed.error);
  CHECK(fed.parser.is_done());
  CHECK(fed.body == "abcdefghijklmnopqrstuvwxyz");
  CHECK(fed.left == "GET /next");
}

TEST_CASE("request parser: chunks in any portions are the body, and end where they end") {
  const auto portion = GENERATE(as<std::size_t>(), 1, 2, 3, 5, 1000);
  const auto output_bytes = GENERATE(as<std::size_t>(), 1, 4, 1000);
  CAPTURE(portion, output_bytes);
  const std::string body =
      "3\r\nabc\r\n"
      "A;name=value;other=\"quoted\"\r\n\r\n0\r\n\r\n678\r\n"
      "0001\r\nz\r\n"
      "0\r\nX-Trailer: t\r\n\r\n";

  Fed fed(post("Transfer-Encoding: chunked\r\n") + body + "GET /next", portion, output_bytes);

  CHECK_FALSE(fed.error);
  CHECK(fed.parser.is_done());
  CHECK(fed.body == "abc\r\n0\r\n\r\n678z");
  CHECK(fed.left == "GET /next");
}

TEST_CASE("request parser: broken chunks are refused, whole and byte by byte") {
  const auto* chunks =
      GENERATE("zz\r\nabc\r\n0\r\n\r\n", "\r\nabc\r\n0\r\n\r\n", "-3\r\nabc\r\n0\r\n\r\n",
               "0x3\r\nabc\r\n0\r\n\r\n", " 3\r\nabc\r\n0\r\n\r\n", "3\nabc\r\n0\r\n\r\n",
               "3\r\nabcd\r\n0\r\n\r\n", "3\r\nabc0\r\n\r\n", "3;a=\nb\r\nabc\r\n0\r\n\r\n",
               "10000000000000003\r\nabc\r\n0\r\n\r\n", "3\r\nabc\r\n0\r\nbad trailer\r\n\r\n");
  INFO(chunks);
  const auto request = post("Transfer-Encoding: chunked\r\n") + chunks;

  CHECK(Fed(request, request.size()).error);
  CHECK(Fed(request, 1).error);
}

TEST_CASE("request parser: trailers do not become fields of the head, which others hold already") {
  Fed fed(post("Transfer-Encoding: chunked\r\n") +
              "1\r\na\r\n0\r\nContent-Range: 0-9\r\nHost: y\r\n\r\n",
          1000);

  REQUIRE(fed.parser.is_done());
  CHECK(fed.parser.request().count("Content-Range") == 0);
  CHECK(fed.parser.request().count("Host") == 1);
}

TEST_CASE("request parser: body bytes that lie in the output already are not moved") {
  RequestParser parser(kHeaderBytesMax);
  boost::system::error_code error;
  parser.put(boost::asio::buffer(post("Content-Length: 8\r\n")), error);
  REQUIRE_FALSE(error);
  std::vector<std::byte> output(8, std::byte{'a'});

  parser.set_output(output);
  const auto consumed = parser.put(boost::asio::buffer(output.data(), 5), error);

  CHECK(consumed == 5);
  CHECK(parser.output_used() == 5);
  CHECK(output == std::vector<std::byte>(8, std::byte{'a'}));
}

TEST_CASE("request parser: a head that comes in portions is bounded as a whole") {
  // Each portion ends a field and begins the next one, so that the field is taken at once.
  RequestParser parser(kHeaderBytesMax);
  boost::system::error_code error;
  std::string buffer = "GET / HTTP/1.1\r\nHost: x\r\nX";
  for (std::uint32_t sent = 0; sent < 4 * kHeaderBytesMax && error != http::error::header_limit;) {
    buffer += "-Filler: some bytes\r\nX";
    sent += 22;
    buffer.erase(0, parser.put(boost::asio::buffer(buffer), error));
  }

  CHECK(error == http::error::header_limit);
}

}  // namespace
}  // namespace orlop
