#pragma once

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/unique_fd.h"
#include "server/session.h"
#include "tests/server/test_origin.h"

namespace orlop {

/// A session on one end of a real TCP connection, on a thread of its own; the test is the client on
/// the other end. Deadlines are looked at every few milliseconds. Ends with the test.
class LoopbackSession {
 public:
  explicit LoopbackSession(SessionOptions options, Durability durability = Durability::never,
                           Disk* disk = nullptr)
      : origin_(durability, disk),
        context_{
            .router = router_, .origin = origin_.get(), .health = health_, .options = options} {
    const auto loopback = asio::ip::address_v4::loopback();
    Acceptor acceptor(io_, asio::ip::tcp::endpoint(loopback, 0));
    Socket client(io_);
    client.connect(acceptor.local_endpoint());
    auto server = acceptor.accept();
    server.native_non_blocking(true);
    server_fd_ = server.native_handle();
    client_ = UniqueFd(client.release());
    // Blocking, but never for ever: a test that waits in vain fails instead of hanging.
    const timeval limit{.tv_sec = 20, .tv_usec = 0};
    const int flags = 0;
    (void)::ioctl(client_.get(), FIONBIO, &flags);
    ::setsockopt(client_.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(client_.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    asio::co_spawn(io_, serve_it(std::move(server)), rethrow);
    asio::co_spawn(io_, sweep(), rethrow);
    thread_ = std::thread([this] { io_.run(); });
  }
  ~LoopbackSession() {
    asio::post(io_, [this] { group_.close_all(); });
    thread_.join();
  }

  /// True if all of it could be sent.
  bool send(std::string_view bytes) {
    while (!bytes.empty()) {
      const auto sent = ::send(client_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
    return true;
  }
  /// So that what is sent next comes to the session by another read.
  void wait_until_read() {
    int unread = 1;
    while (!over_ && ::ioctl(server_fd_, FIONREAD, &unread) == 0 && unread > 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  void send_in_two(std::string_view first, std::string_view second) {
    send(first);
    wait_until_read();
    send(second);
  }
  void end_sending() { ::shutdown(client_.get(), SHUT_WR); }

  /// What comes until the server ends the connection, and "<errno>" if it ends otherwise.
  std::string received() { return received_until({}); }
  /// What comes until it ends with this text.
  std::string received_until(std::string_view end) {
    std::string text;
    std::array<char, 4096> buffer;
    while (end.empty() || !text.ends_with(end)) {
      const auto count = ::recv(client_.get(), buffer.data(), buffer.size(), 0);
      if (count < 0) return text + "<" + std::to_string(errno) + ">";
      if (count == 0) return text;
      text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    return text;
  }

  bool over() const { return over_; }

 private:
  Task<> serve_it(Socket socket) {
    co_await serve(std::move(socket), group_, context_, 1);
    over_ = true;
  }
  Task<> sweep() {
    SteadyTimer timer(io_);
    while (!over_) {
      group_.sweep();
      timer.expires_after(std::chrono::milliseconds(5));
      co_await timer.async_wait(no_throw);
    }
  }

  TestOrigin origin_;
  Router router_{all_routes(), {}};
  Health health_;
  SessionContext context_;
  ConnectionGroup group_;
  asio::io_context io_{1};
  std::atomic<bool> over_ = false;
  int server_fd_ = -1;
  UniqueFd client_;
  std::thread thread_;
};

}  // namespace orlop
