#include "server/session.h"

#include <catch2/catch.hpp>
#include <thread>

#include "tests/server/loopback_session.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHealth = "GET /health HTTP/1.1\r\nHost: x\r\n\r\n";
constexpr std::string_view kLastHealth =
    "GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

SessionOptions patient() { return {.idle_max = 30s, .progress_max = 30s}; }

/// The statuses of the answers in what was received.
std::string statuses(std::string_view received) {
  std::string all;
  for (auto at = received.find("HTTP/1.1 "); at != std::string_view::npos;
       at = received.find("HTTP/1.1 ", at + 1)) {
    if (!all.empty()) all += ' ';
    all += received.substr(at + 9, 3);
  }
  return all;
}

TEST_CASE("session: requests are answered in order, until one says it is the last") {
  LoopbackSession session(patient());
  session.send(kHealth);
  CHECK(statuses(session.received_until("OK\n")) == "200");
  session.send(std::string(kHealth) + "GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n" +
               std::string(kLastHealth) + std::string(kHealth));

  const auto received = session.received();

  CHECK(statuses(received) == "200 404 200");
  CHECK(received.find("Connection: close\r\n") > received.rfind("HTTP/1.1 200"));
}

TEST_CASE("session: a request that comes byte by byte is understood") {
  LoopbackSession session(patient());
  for (const auto& byte : kLastHealth) session.send({&byte, 1});
  CHECK(statuses(session.received()) == "200");
}

TEST_CASE("session: an idle connection is closed without a word after idle_max") {
  LoopbackSession session({.idle_max = 60ms, .progress_max = 30s});
  const auto began = std::chrono::steady_clock::now();

  CHECK(session.received() == "");

  CHECK(std::chrono::steady_clock::now() - began >= 50ms);
}

TEST_CASE("session: idle_max begins anew after each answer") {
  LoopbackSession session({.idle_max = 60ms, .progress_max = 30s});
  session.send(kHealth);
  CHECK(statuses(session.received()) == "200");
}

TEST_CASE("session: a head must be complete within header_max, however busily it drips") {
  LoopbackSession session({.idle_max = 30s, .header_max = 100ms, .progress_max = 30s});
  const auto give_up_at = std::chrono::steady_clock::now() + 15s;
  session.send("GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ");

  while (!session.over() && std::chrono::steady_clock::now() < give_up_at) {
    session.send("a");
    std::this_thread::sleep_for(5ms);
  }

  CHECK(session.over());
}

TEST_CASE("session: a body may take longer than progress_max as long as it makes progress") {
  LoopbackSession session({.idle_max = 30s, .progress_max = 1s});
  session.send("POST /cas HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 15\r\n\r\n");
  for (int i = 0; i < 15; ++i) {
    std::this_thread::sleep_for(100ms);
    session.send("x");
  }
  CHECK(statuses(session.received()) == "201");
}

TEST_CASE(
    "session: a body that stops for progress_max ends the connection, and nothing is stored") {
  LoopbackSession session({.idle_max = 30s, .progress_max = 100ms});
  session.send("POST /cas HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc");
  CHECK(statuses(session.received()).find("20") == std::string::npos);
}

TEST_CASE("session: the answer can be read although the client is still sending") {
  LoopbackSession session(patient());
  const std::string filler(1 << 20, 'x');
  bool all_sent = session.send("GET /health HTTP/1.1\r\nno colon\r\n\r\n");

  // More than the buffers of both ends hold. Without the session's lingering this is cut short,
  // and the reset that does it destroys the answer.
  for (int i = 0; i < 32; ++i) all_sent = session.send(filler) && all_sent;
  session.end_sending();

  CHECK(all_sent);
  const auto received = session.received();
  CHECK(statuses(received) == "400");
  CHECK(received.find("Connection: close\r\n") != std::string::npos);
  CHECK(received.ends_with("malformed request\n"));
}

TEST_CASE("session: a small body that nobody wants is taken before the answer") {
  LoopbackSession session(patient());
  session.send("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab");
  session.wait_until_read();
  session.send("cd" + std::string(kLastHealth));

  CHECK(statuses(session.received()) == "404 200");
}

TEST_CASE("session: a client that sends less than it said is answered, and that was all") {
  LoopbackSession session(patient());
  session.send("POST /nowhere HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nab");
  session.end_sending();

  const auto received = session.received();

  CHECK(statuses(received) == "404");
  CHECK(received.find("Connection: close\r\n") != std::string::npos);
}

TEST_CASE("session: a client that waits for 100 Continue hears the refusal instead") {
  LoopbackSession session(patient());
  session.send(
      "PUT /cas/short HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");

  const auto received = session.received_until("}}\n");

  CHECK(statuses(received) == "400");
}

TEST_CASE("session: a client that waits for 100 Continue is told so, once its body is wanted") {
  LoopbackSession session(patient());
  session.send(
      "POST /cas HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nConnection: close\r\n"
      "Content-Length: 3\r\n\r\n");
  CHECK(session.received_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");

  session.send("abc");

  CHECK(statuses(session.received()) == "201");
}

TEST_CASE("session: other expectations are refused") {
  LoopbackSession session(patient());
  session.send("POST /cas HTTP/1.1\r\nHost: x\r\nExpect: 200-ok\r\nContent-Length: 3\r\n\r\nabc");
  session.end_sending();
  CHECK(statuses(session.received()) == "417");
}

TEST_CASE("session: an empty line before a request is skipped") {
  LoopbackSession session(patient());
  session.send("\r\n" + std::string(kLastHealth));
  CHECK(statuses(session.received()) == "200");
}

TEST_CASE("session: an empty line before a request is skipped, also when it comes in two parts") {
  LoopbackSession session(patient());
  session.send_in_two("\r", "\n" + std::string(kLastHealth));
  CHECK(statuses(session.received()) == "200");
}

TEST_CASE("session: a folded line is refused, wherever the head is cut in two") {
  const std::string head = "GET /health HTTP/1.1\r\nHost: x\r\nX-A: a\r\n b\r\nX-B: c\r\n\r\n";
  const auto cut = GENERATE(as<std::size_t>(), 5, 30, 37, 39, 41, 44, 46, 50, 52);
  CAPTURE(cut, head.substr(0, cut));
  LoopbackSession session(patient());

  session.send_in_two(head.substr(0, cut), head.substr(cut));
  session.end_sending();

  CHECK(statuses(session.received()) == "400");
}

TEST_CASE("session: a blank after what frames the body is refused, wherever the head is cut") {
  const std::string line = GENERATE(as<std::string>(), "Content-Length: 4 ", "content-length: 4\t",
                                    "Transfer-Encoding: chunked ", "TRANSFER-encoding: chunked \t");
  const std::string head = "POST /cas HTTP/1.1\r\nHost: x\r\n" + line + "\r\nX-B: c\r\n\r\n";
  const auto cut = GENERATE(as<std::size_t>(), 0, 28, 31, 46, 47, 48, 49, 50, 52, 58);
  CAPTURE(cut, head.substr(0, cut));
  LoopbackSession session(patient());

  session.send_in_two(head.substr(0, cut), head.substr(cut));
  session.end_sending();

  CHECK(statuses(session.received()) == "400");
}

TEST_CASE("session: a blank after any other field is not part of its value, and nothing more") {
  LoopbackSession session(patient());
  session.send(
      "POST /cas HTTP/1.1\r\nHost: x \r\nX-A: \r\nConnection: close \r\nContent-Length: 4\r\n"
      "\r\nab \t");
  CHECK(statuses(session.received()) == "201");
}

TEST_CASE("session: a head above header_bytes_max is 431, at once or in portions") {
  auto options = patient();
  options.header_bytes_max = 4096;
  LoopbackSession session(options);
  session.send("GET /health HTTP/1.1\r\nHost: x\r\nX");
  // Each portion ends a field and begins the next, so a parser may take the field out of the
  // buffer.
  const std::string_view portion = "-Filler: 0123456789012345678901234567890123456789\r\nX";
  const bool in_portions = GENERATE(false, true);
  CAPTURE(in_portions);
  for (std::size_t sent = 0; sent < 4 * 4096; sent += portion.size()) {
    session.send(portion);
    if (in_portions) session.wait_until_read();
  }
  session.send("-End: x\r\n\r\n");
  session.end_sending();

  CHECK(statuses(session.received()) == "431");
}

TEST_CASE("session: a chunk's header is bounded") {
  LoopbackSession session(patient());
  session.send("POST /cas HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;x=");
  const std::string filler(1 << 20, 'x');
  for (int i = 0; i < 16; ++i) session.send(filler);

  session.end_sending();

  const auto received = session.received();
  CHECK(statuses(received) == "400");
  CHECK(received.find("the body was cut") == std::string::npos);  // Refused for what did come.
}

}  // namespace
}  // namespace orlop
