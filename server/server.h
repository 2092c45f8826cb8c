#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/health.h"
#include "server/metrics.h"
#include "server/reactor.h"
#include "server/router.h"

namespace orlop {

struct ServerOptions {
  std::string listen_address = "127.0.0.1";
  std::uint16_t port = 15002;  ///< 0: any free one.
  unsigned reactors = 0;       ///< 0: one a core.
  std::size_t connections_max = 10'000;
  std::chrono::nanoseconds lame_duck{std::chrono::seconds(5)};
  std::chrono::nanoseconds drain_limit{std::chrono::seconds(30)};
  SessionOptions session;
  ConcurrencyLimits limits;
  AccessRules access;
  std::string_view version;  ///< Of this program; of a constant.
};

/// The HTTP side: one listening socket, and reactors that serve what it accepts. It outlives the
/// origin that it serves.
class Server {
 public:
  explicit Server(ServerOptions options);
  ~Server();

  /// Binds and listens, and gives the port. A taken port is an error, not something to share.
  Result<std::uint16_t> listen();

  /// Serves until SIGTERM or SIGINT, then drains: readiness fails, and for `lame_duck` new
  /// connections are still taken (SIGINT skips this); then the listener closes and requests have
  /// `drain_limit` to finish. A second signal ends the process at once. Pre: `listen` succeeded.
  /// `draining` is called, on the calling thread, when the first signal has come.
  void run(
      Origin& origin, std::function<void()> draining = [] {});

 private:
  Task<> accept_loop();
  Task<> wait_for_signal(std::function<void()> draining);
  void hand_over(Socket socket);
  std::size_t connections() const;

  const ServerOptions options_;
  const Router router_;
  Health health_;
  asio::io_context io_{1};  ///< Of the calling thread: accepting and signals.
  Acceptor acceptor_;
  SteadyTimer pause_;
  std::optional<SessionContext> context_;  // Before the reactors, which use it.
  std::list<Reactor> reactors_;            // A list: a reactor never moves.
  AcceptCounts accepting_;
  std::optional<Metrics> metrics_;  // After the reactors, whose requests wait for its pages.
};

}  // namespace orlop
