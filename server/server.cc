#include "server/server.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <thread>
#include <utility>

#include "base/log.h"

namespace orlop {
namespace {

using Signals = asio::basic_signal_set<Executor>;

/// How long to look away when nothing can be accepted: out of descriptors, or at the limit.
constexpr std::chrono::milliseconds kAcceptPause{50};

}  // namespace

Server::Server(ServerOptions options)
    : options_(std::move(options)),
      router_(all_routes(), options_.access, options_.limits),
      acceptor_(io_),
      pause_(io_) {}

Server::~Server() = default;

Result<std::uint16_t> Server::listen() {
  boost::system::error_code error;
  const auto where = options_.listen_address + ":" + std::to_string(options_.port);
  const auto failed = [&](const char* call) {
    return Error(Errc::io_error, std::string(call) + " " + where + ": " + error.message());
  };
  const auto address = asio::ip::make_address(options_.listen_address, error);
  if (error) return failed("read address");
  const asio::ip::tcp::endpoint endpoint(address, options_.port);
  acceptor_.open(endpoint.protocol(), error);
  if (error) return failed("open socket for");
  // So that a restart is not refused for the connections that still linger. It does not share the
  // port with a listener.
  acceptor_.set_option(Acceptor::reuse_address(true), error);
  if (error) return failed("set option of");
  acceptor_.bind(endpoint, error);
  if (error) return failed("bind");
  acceptor_.listen(Acceptor::max_listen_connections, error);
  if (error) return failed("listen on");
  return acceptor_.local_endpoint(error).port();
}

void Server::run(Origin& origin, std::function<void()> draining) {
  context_.emplace(SessionContext{
      .router = router_, .origin = origin, .health = health_, .options = options_.session});
  const auto cores = std::max(1U, std::thread::hardware_concurrency());
  const auto count = options_.reactors > 0 ? options_.reactors : cores;
  for (unsigned i = 0; i < count; ++i) reactors_.emplace_back(*context_);

  metrics_.emplace(Metrics::Sources{.origin = origin,
                                    .admission = router_.admission(),
                                    .reactors = reactors_,
                                    .accepting = accepting_,
                                    .connections_max = options_.connections_max,
                                    .version = options_.version});
  health_.show_metrics(&*metrics_);
  asio::co_spawn(io_, accept_loop(), rethrow);
  asio::co_spawn(io_, wait_for_signal(std::move(draining)), rethrow);
  io_.run();

  for (auto& reactor : reactors_) reactor.drain();
  const auto give_up_at = std::chrono::steady_clock::now() + options_.drain_limit;
  while (connections() > 0 && std::chrono::steady_clock::now() < give_up_at) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (connections() > 0) log_warn("drain_limit_reached", {{"connections", connections()}});
  for (auto& reactor : reactors_) reactor.stop();
  health_.show_metrics(nullptr);
  metrics_.reset();  // It asks the origin, which goes before this object.
  // They stay until this object goes, which is after the origin: a thread of the pool that has just
  // woken a session may still be leaving its reactor's event loop.
}

Task<> Server::wait_for_signal(std::function<void()> draining) {
  Signals signals(io_, SIGINT, SIGTERM);
  const auto [error, signal] = co_await signals.async_wait(no_throw);
  if (error) co_return;
  signals.clear();
  // A second signal means now. It must work even if this thread is stuck.
  std::signal(SIGTERM, [](int) { std::_Exit(EXIT_FAILURE); });
  std::signal(SIGINT, [](int) { std::_Exit(EXIT_FAILURE); });

  health_.begin_draining();
  draining();
  const auto lame_duck = signal == SIGINT ? std::chrono::nanoseconds(0) : options_.lame_duck;
  log_info("draining", {{"signal", signal},
                        {"lame_duck_ms", lame_duck.count() / 1'000'000},
                        {"connections", connections()}});
  SteadyTimer timer(io_);
  timer.expires_after(lame_duck);
  co_await timer.async_wait(no_throw);
  boost::system::error_code ignored;
  acceptor_.close(ignored);
  pause_.cancel();
}

Task<> Server::accept_loop() {
  bool complained = false;
  while (acceptor_.is_open()) {
    boost::system::error_code error;
    if (connections() < options_.connections_max) {
      auto [accept_error, socket] = co_await acceptor_.async_accept(no_throw);
      if (!accept_error) {
        hand_over(std::move(socket));
        complained = false;
        continue;
      }
      error = accept_error;
      if (error == asio::error::operation_aborted) continue;
    }
    (error ? accepting_.paused_by_error : accepting_.paused_at_limit).add();
    if (!complained) {
      log_warn("accepting_paused",
               {{"connections", connections()},
                {"reason", error ? error.message() : "as many as event=limits allows"}});
      complained = true;
    }
    pause_.expires_after(kAcceptPause);
    co_await pause_.async_wait(no_throw);
  }
}

/// To the reactor with the fewest connections.
void Server::hand_over(Socket socket) {
  auto least = reactors_.begin();
  for (auto reactor = reactors_.begin(); reactor != reactors_.end(); ++reactor) {
    if (reactor->connections() < least->connections()) least = reactor;
  }
  boost::system::error_code error;
  const int descriptor = socket.release(error);
  if (error) return;
  accepting_.accepted.add();
  least->adopt(descriptor, accepting_.accepted.value());
}

std::size_t Server::connections() const {
  std::size_t sum = 0;
  for (const auto& reactor : reactors_) sum += reactor.connections();
  return sum;
}

}  // namespace orlop
