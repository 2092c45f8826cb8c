#include "server/reply.h"

#include <catch2/catch.hpp>
#include <limits>
#include <nlohmann/json.hpp>

#include "core/digester.h"
#include "server/status.h"

namespace orlop {
namespace {

constexpr std::string_view kDate = "Thu, 01 Jan 1970 00:00:00 GMT";
const Digest kDigest = digest_of("0123456789");

Request request_of(http::verb method, std::string_view range = {}) {
  Request request;
  request.method = method;
  request.id = "1-1";
  if (!range.empty()) request.fields.emplace_back("Range", range);
  return request;
}

Reply ten_bytes(const Request& request) {
  return blob_reply(OpenBlob(kDigest, 10, UniqueFd()), request);
}

std::optional<std::string> field_of(const Reply& reply, std::string_view name) {
  for (const auto& [field, value] : reply.fields) {
    if (field == name) return value;
  }
  return std::nullopt;
}

std::size_t occurrences(std::string_view text, std::string_view of) {
  std::size_t count = 0;
  for (auto at = text.find(of); at != std::string_view::npos; at = text.find(of, at + 1)) ++count;
  return count;
}

TEST_CASE("blob reply: a whole blob with its length, its digest and what can be asked of it") {
  const auto reply = ten_bytes(request_of(http::verb::get));

  CHECK(reply.status == 200);
  CHECK(reply.blob_offset == 0);
  CHECK(reply.blob_length == 10);
  CHECK(reply.body_bytes() == 10);
  CHECK(reply.content_type == "application/octet-stream");
  CHECK(field_of(reply, "ETag") == '"' + kDigest.to_string() + '"');
  CHECK(field_of(reply, "Accept-Ranges") == "bytes");
  CHECK_FALSE(field_of(reply, "Content-Range"));
}

TEST_CASE("blob reply: a range is cut from the blob, or ignored, or refused (RFC 9110, 14)") {
  struct Case {
    std::string range;
    unsigned status;
    std::uint64_t offset;
    std::uint64_t length;
    std::string content_range;
  };
  const auto one = GENERATE(values<Case>({
      {"bytes=0-0", 206, 0, 1, "bytes 0-0/10"},
      {"bytes=2-4", 206, 2, 3, "bytes 2-4/10"},
      {"bytes=0-9", 206, 0, 10, "bytes 0-9/10"},
      {"bytes=4-", 206, 4, 6, "bytes 4-9/10"},
      {"bytes=9-", 206, 9, 1, "bytes 9-9/10"},
      {"bytes=4-99", 206, 4, 6, "bytes 4-9/10"},
      {"bytes=4-18446744073709551615", 206, 4, 6, "bytes 4-9/10"},
      {"bytes=4-99999999999999999999", 206, 4, 6, "bytes 4-9/10"},
      {"bytes=-3", 206, 7, 3, "bytes 7-9/10"},
      {"bytes=-99", 206, 0, 10, "bytes 0-9/10"},
      {"bytes=5-5,20-30", 206, 5, 1, "bytes 5-5/10"},
      {"bytes=10-", 416, 0, 0, "bytes */10"},
      {"bytes=10-20", 416, 0, 0, "bytes */10"},
      {"bytes=-0", 416, 0, 0, "bytes */10"},
      {"bytes=0-1,1-4", 206, 0, 5, "bytes 0-4/10"},
      {"bytes=4-2", 200, 0, 10, ""},
      {"bytes=", 200, 0, 10, ""},
      {"bytes=a-b", 200, 0, 10, ""},
      {"lines=0-1", 200, 0, 10, ""},
      {"0-1", 200, 0, 10, ""},
  }));
  INFO(one.range);

  const auto reply = ten_bytes(request_of(http::verb::get, one.range));

  CHECK(reply.status == one.status);
  CHECK(reply.blob_offset == one.offset);
  CHECK(reply.blob_length == one.length);
  CHECK(reply.body_bytes() == one.length);
  CHECK((reply.blob == nullptr) == (one.status == 416));
  CHECK(field_of(reply, "Content-Range").value_or("") == one.content_range);
}

TEST_CASE("blob reply: HEAD ignores the range") {
  const auto reply = ten_bytes(request_of(http::verb::head, "bytes=2-4"));
  CHECK(reply.status == 200);
  CHECK(reply.body_bytes() == 10);
}

TEST_CASE("blob reply: an empty blob has no range that could be had") {
  const auto request = request_of(http::verb::get, "bytes=0-0");
  const auto reply = blob_reply(OpenBlob(digest_of(""), 0, UniqueFd()), request);
  CHECK(reply.status == 416);
  CHECK(field_of(reply, "Content-Range") == "bytes */0");
}

TEST_CASE("head: the status line, the fields, the length, and an empty line") {
  auto reply = text_reply(200, "four");
  reply.fields.emplace_back("Location", "/cas/x");

  const auto head = head_of(reply, request_of(http::verb::get), true, kDate);

  CHECK(head ==
        "HTTP/1.1 200 OK\r\n"
        "Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
        "Content-Type: text/plain; charset=utf-8\r\n"
        "Location: /cas/x\r\n"
        "Content-Length: 4\r\n"
        "\r\n");
}

TEST_CASE("head: says how long the body is, also when there is none, but never with 204") {
  const auto request = request_of(http::verb::get);
  CHECK(head_of(empty_reply(409), request, true, kDate).find("Content-Length: 0\r\n") !=
        std::string::npos);
  CHECK(head_of(empty_reply(204), request, true, kDate).find("Content-Length") ==
        std::string::npos);
  auto reply = empty_reply(200);
  reply.content_length = std::numeric_limits<std::uint64_t>::max();
  CHECK(head_of(reply, request_of(http::verb::head), true, kDate)
            .find("Content-Length: 18446744073709551615\r\n") != std::string::npos);
  CHECK(head_of(ten_bytes(request), request, true, kDate).find("Content-Length: 10\r\n") !=
        std::string::npos);
}

TEST_CASE("head: an answer without a body names no type") {
  CHECK(head_of(empty_reply(200), request_of(http::verb::get), true, kDate).find("Content-Type") ==
        std::string::npos);
}

TEST_CASE("head: says what becomes of the connection where that is not the version's default") {
  auto request = request_of(http::verb::get);
  const auto connection = [&](unsigned version, bool keep_alive) -> std::string {
    request.version = version;
    const auto head = head_of(empty_reply(200), request, keep_alive, kDate);
    if (head.find("Connection: close\r\n") != std::string::npos) return "close";
    if (head.find("Connection: keep-alive\r\n") != std::string::npos) return "keep-alive";
    return head.find("Connection") == std::string::npos ? "" : head;
  };

  CHECK(connection(11, true) == "");
  CHECK(connection(11, false) == "close");
  CHECK(connection(10, true) == "keep-alive");
  CHECK(connection(10, false) == "close");
}

TEST_CASE("head: every status that is answered has a reason of its own") {
  for (const unsigned status : {200U, 201U, 202U, 204U, 206U, 400U, 403U, 404U, 405U, 409U, 416U,
                                417U, 431U, 500U, 502U, 503U, 504U}) {
    const auto head = head_of(empty_reply(status), request_of(http::verb::get), true, kDate);
    const auto line = head.substr(0, head.find("\r\n"));
    INFO(line);
    CHECK(line.starts_with("HTTP/1.1 " + std::to_string(status) + " "));
    CHECK(line.size() > 13);
    CHECK(line.find("<unknown") == std::string::npos);
  }
}

TEST_CASE("kraken error: plain text, a newline nobody asked for is not added, 404 is empty") {
  const auto error = kraken_error(Error(Errc::invalid_argument, "why"));
  CHECK(error.status == 400);
  CHECK(error.text == "why");
  CHECK(error.content_type == "text/plain; charset=utf-8");
  const auto absent = kraken_error(Error(Errc::not_found, "what"));
  CHECK(absent.status == 404);
  CHECK(absent.text.empty());
  CHECK(absent.content_type.empty());
}

TEST_CASE("errors: only 503 says when to come again") {
  const auto request = request_of(http::verb::get);
  for (const auto code : {Errc::invalid_argument, Errc::not_found, Errc::digest_mismatch,
                          Errc::corrupt, Errc::busy, Errc::pinned, Errc::timed_out,
                          Errc::unavailable, Errc::io_error, Errc::invariant_violation}) {
    INFO(to_string(code));
    const bool again = to_status(code) == 503;
    CHECK(again == (code == Errc::busy));
    CHECK(field_of(kraken_error(Error(code, "x")), "Retry-After").has_value() == again);
    CHECK(field_of(json_error(Error(code, "x"), request), "Retry-After").has_value() == again);
  }
}

TEST_CASE("json error: names the kind, the message, the digest and the request") {
  const auto reply =
      json_error(Error(Errc::not_found, "not here"), request_of(http::verb::get), kDigest);

  CHECK(reply.status == 404);
  CHECK(reply.content_type == "application/json");
  CHECK(reply.text == R"({"error":{"code":"not_found","message":"not here","digest":")" +
                          kDigest.to_string() + R"(","request_id":"1-1"}})" + "\n");
}

TEST_CASE("json error: what strangers wrote is escaped, and cannot end the string") {
  const std::string message = "a\"b\\c\nd\x01\x7f</script>\xe2\x80\xa8 é \",\"code\":\"ok";
  const auto reply = json_error(400, "invalid_argument", message, request_of(http::verb::get));

  const auto json = nlohmann::json::parse(reply.text);
  CHECK(json.at("error").at("message") == message);
  CHECK(json.at("error").at("code") == "invalid_argument");
  CHECK_FALSE(json.at("error").contains("digest"));
  CHECK(occurrences(reply.text, "\n") == 1);

  // Not UTF-8: still JSON.
  CHECK(nlohmann::json::accept(json_error(400, "x", "\xff\xc3", request_of(http::verb::get)).text));
}

}  // namespace
}  // namespace orlop
