#include "peer/seeder.h"

#include <thread>
#include <utility>

#include "base/log.h"
#include "peer/egress_limit.h"
#include "peer/seed_session.h"

namespace orlop {
namespace {

/// How long to look away when nothing can be accepted: out of descriptors, or at a limit.
constexpr std::chrono::milliseconds kAcceptPause{50};
constexpr std::chrono::seconds kSweepEvery{1};

}  // namespace

/// The thread, its event loop and what lives on it.
class Seeder::Loop {
 public:
  explicit Loop(const SeederOptions& options)
      : swarm_(options),
        egress_(options.egress_bytes_per_second, PeerConnection::Clock::now()),
        guard_(asio::make_work_guard(io_)),
        acceptor_(io_),
        pause_(io_),
        sweep_timer_(io_) {}

  ~Loop() {
    if (thread_.joinable()) stop(std::chrono::nanoseconds(0));
  }

  Result<std::uint16_t> listen() {
    const auto& options = swarm_.options();
    boost::system::error_code error;
    const auto where = options.listen_address + ":" + std::to_string(options.port);
    const auto failed = [&](const char* call) {
      return Error(Errc::io_error,
                   std::string(call) + " " + where + " for peers: " + error.message());
    };
    const auto address = asio::ip::make_address(options.listen_address, error);
    if (error) return failed("read address");
    const asio::ip::tcp::endpoint endpoint(address, options.port);
    acceptor_.open(endpoint.protocol(), error);
    if (error) return failed("open socket for");
    acceptor_.set_option(Acceptor::reuse_address(true), error);
    if (error) return failed("set option of");
    acceptor_.bind(endpoint, error);
    if (error) return failed("bind");
    acceptor_.listen(Acceptor::max_listen_connections, error);
    if (error) return failed("listen on");
    return acceptor_.local_endpoint(error).port();
  }

  void start(SeedSource& source) {
    asio::co_spawn(io_, accept_loop(source), rethrow);
    asio::co_spawn(io_, sweep_loop(), rethrow);
    thread_ = std::thread([this] { io_.run(); });
  }

  void stop(std::chrono::nanoseconds grace) {
    asio::post(io_, [this] { end(); });
    const auto give_up_at = PeerConnection::Clock::now() + grace;
    while (stats().connections > 0 && PeerConnection::Clock::now() < give_up_at) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    asio::post(io_, [this] {
      swarm_.close_all();
      stopping_ = true;
      sweep_timer_.cancel();
      guard_.reset();  // run() returns when the last session has unwound.
    });
    thread_.join();
  }

  SwarmStats stats() const { return swarm_.stats(); }

 private:
  void end() {
    boost::system::error_code ignored;
    acceptor_.close(ignored);
    pause_.cancel();
    swarm_.drain();
  }

  Task<> accept_loop(SeedSource& source) {
    bool complained = false;
    while (acceptor_.is_open()) {
      boost::system::error_code error;
      if (swarm_.has_room()) {
        auto [accept_error, socket] = co_await acceptor_.async_accept(no_throw);
        if (!accept_error) {
          complained = false;
          boost::system::error_code ignored;
          socket.native_non_blocking(true,
                                     ignored);  // sendfile is called on the descriptor itself.
          socket.set_option(asio::ip::tcp::no_delay(true), ignored);
          asio::co_spawn(io_, serve_peer(std::move(socket), swarm_, source, egress_), rethrow);
          continue;
        }
        error = accept_error;
        if (error == asio::error::operation_aborted) continue;
      }
      if (!complained) {
        log_warn("accepting_peers_paused",
                 {{"connections", swarm_.stats().connections},
                  {"reason", error ? error.message() : "as many as there may be"}});
        complained = true;
      }
      pause_.expires_after(kAcceptPause);
      co_await pause_.async_wait(no_throw);
    }
  }

  Task<> sweep_loop() {
    while (!stopping_) {
      swarm_.sweep();
      sweep_timer_.expires_after(kSweepEvery);
      co_await sweep_timer_.async_wait(no_throw);
    }
  }

  Swarm swarm_;  // Before io_: when that goes, sessions still leave the swarm.
  EgressLimit egress_;
  asio::io_context io_{1};
  asio::executor_work_guard<Executor> guard_;  // run() goes on while only the pool has work.
  Acceptor acceptor_;
  SteadyTimer pause_;
  SteadyTimer sweep_timer_;
  bool stopping_ = false;
  std::thread thread_;
};

Seeder::Seeder(const SeederOptions& options) : loop_(std::make_unique<Loop>(options)) {}
Seeder::~Seeder() = default;
Result<std::uint16_t> Seeder::listen() { return loop_->listen(); }
void Seeder::start(SeedSource& source) { loop_->start(source); }
void Seeder::stop(std::chrono::nanoseconds grace) { loop_->stop(grace); }
SwarmStats Seeder::stats() const { return loop_->stats(); }

}  // namespace orlop
