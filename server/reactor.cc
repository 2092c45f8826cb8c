#include "server/reactor.h"

#include <unistd.h>

#include <utility>

#include "base/log.h"
#include "server/metainfo_turns.h"

namespace orlop {
namespace {

constexpr std::chrono::milliseconds kLagEvery{100};

}  // namespace

Reactor::Reactor(const SessionContext& context)
    : context_(context), guard_(asio::make_work_guard(io_)), sweep_timer_(io_), lag_timer_(io_) {
  asio::co_spawn(io_, sweep_loop(), rethrow);
  asio::co_spawn(io_, lag_loop(), rethrow);
  thread_ = std::thread([this] {
    const MetaInfoTurns turns(context_.origin.metainfo_cache(), io_);
    io_.run();
  });
}

Reactor::~Reactor() {
  if (thread_.joinable()) stop();
}

void Reactor::adopt(int descriptor, std::uint64_t connection_number) {
  connections_.fetch_add(1, std::memory_order_relaxed);
  asio::post(io_, [this, descriptor, connection_number] {
    Socket socket(io_.get_executor());
    boost::system::error_code error;
    // Which of the two families it is makes no difference to a connected socket.
    socket.assign(asio::ip::tcp::v4(), descriptor, error);
    if (error) {
      ::close(descriptor);
      connections_.fetch_sub(1, std::memory_order_relaxed);
      log_warn("connection_not_adopted", {{"reason", error.message()}});
      return;
    }
    socket.native_non_blocking(true, error);  // sendfile is called on the descriptor itself.
    socket.set_option(asio::ip::tcp::no_delay(true), error);
    asio::co_spawn(io_, serve_one(std::move(socket), connection_number), rethrow);
  });
}

Task<> Reactor::serve_one(Socket socket, std::uint64_t connection_number) {
  co_await serve(std::move(socket), group_, context_, connection_number);
  connections_.fetch_sub(1, std::memory_order_relaxed);
}

Task<> Reactor::sweep_loop() {
  while (!stopping_) {
    group_.sweep();
    sweep_timer_.expires_after(std::chrono::seconds(1));
    co_await sweep_timer_.async_wait(no_throw);
  }
}

/// Ten times a second, how late a timer is. That costs nothing that can be measured, while two
/// looks at the clock in each turn of the loop would be paid by every request.
Task<> Reactor::lag_loop() {
  while (!stopping_) {
    const auto due = std::chrono::steady_clock::now() + kLagEvery;
    lag_timer_.expires_at(due);
    co_await lag_timer_.async_wait(no_throw);
    if (!stopping_) group_.counts.late(std::chrono::steady_clock::now() - due);
  }
}

void Reactor::drain() {
  asio::post(io_, [this] { group_.drain(); });
}

void Reactor::stop() {
  asio::post(io_, [this] {
    stopping_ = true;
    group_.drain();
    group_.close_all();
    sweep_timer_.cancel();
    lag_timer_.cancel();
    guard_.reset();  // run() returns when the last session has unwound.
  });
  thread_.join();
}

}  // namespace orlop
