#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <thread>

#include "server/session.h"

namespace orlop {

/// One core: a thread, its event loop, and the connections that live on it. A connection never
/// leaves its reactor, so what it touches needs no lock.
class Reactor {
 public:
  /// Starts the thread. `context` outlives the reactor.
  explicit Reactor(const SessionContext& context);
  /// Pre: `stop` has returned.
  ~Reactor();

  /// Takes over a connected socket, by descriptor. From any thread.
  void adopt(int descriptor, std::uint64_t connection_number);

  /// Connections here. From any thread; a moment old.
  std::size_t connections() const { return connections_.load(std::memory_order_relaxed); }

  /// What its requests were. From any thread.
  const ReactorCounts& counts() const { return group_.counts; }

  /// Ends idle connections now and busy ones after their request. From any thread.
  void drain();
  /// Cuts what is left, and returns when every session has unwound. From any other thread, once.
  void stop();

 private:
  Task<> sweep_loop();
  Task<> lag_loop();
  Task<> serve_one(Socket socket, std::uint64_t connection_number);

  const SessionContext& context_;
  ConnectionGroup group_;  // Before io_: when that goes, sessions still leave the group.
  std::atomic<std::size_t> connections_ = 0;
  asio::io_context io_{1};
  asio::executor_work_guard<Executor> guard_;  // run() goes on while only the pool has work.
  bool stopping_ = false;                      // On the reactor only.
  SteadyTimer sweep_timer_;
  SteadyTimer lag_timer_;
  std::thread thread_;
};

}  // namespace orlop
