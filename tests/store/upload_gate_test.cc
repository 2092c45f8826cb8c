#include "store/upload_gate.h"

#include <catch2/catch.hpp>
#include <optional>
#include <thread>
#include <utility>

namespace orlop {
namespace {

using namespace std::chrono_literals;

/// How an attempt ended; empty while it waits.
using Attempt = std::optional<Result<>>;

/// A gate whose coroutines run when the test says so.
struct GateBench {
  explicit GateBench(UploadGate::Limits limits = {}) : gate(limits) {}

  UploadGate gate;
  asio::io_context io;

  /// Begins an attempt, and lets it come as far as it gets without waiting.
  void enter(Attempt& attempt, std::function<void()> interrupt = nullptr) {
    asio::co_spawn(io, entering(gate, attempt, std::move(interrupt)), rethrow);
    run_ready();
  }
  void seal(Attempt& attempt) {
    asio::co_spawn(io, sealing(gate, attempt), rethrow);
    run_ready();
  }
  void run_ready() {
    io.restart();
    io.poll();
  }
  /// Until every attempt has ended.
  void run_all() {
    io.restart();
    io.run();
  }

 private:
  static Task<> entering(UploadGate& gate, Attempt& attempt, std::function<void()> interrupt) {
    attempt = co_await gate.enter(std::move(interrupt));
  }
  static Task<> sealing(UploadGate& gate, Attempt& attempt) { attempt = co_await gate.seal(); }
};

bool succeeded(const Attempt& attempt) { return attempt && attempt->has_value(); }

bool failed_with(const Attempt& attempt, Errc code) {
  return attempt && !attempt->has_value() && attempt->error().code() == code;
}

TEST_CASE("upload gate: one writer is inside, one waits, the latest of those who want to") {
  GateBench bench;
  Attempt first;
  Attempt second;
  Attempt third;

  bench.enter(first);
  bench.enter(second);
  bench.enter(third);
  CHECK(succeeded(first));
  CHECK(failed_with(second, Errc::busy));  // Perhaps the third is its client's retry.
  CHECK_FALSE(third);

  bench.gate.leave();
  bench.run_all();
  CHECK(succeeded(third));

  Attempt fourth;
  bench.enter(fourth);  // The third is inside now.
  CHECK_FALSE(fourth);
  bench.gate.leave();
  bench.run_all();
  CHECK(succeeded(fourth));
}

TEST_CASE("upload gate: whoever waited in vain is told so, and the next may wait") {
  GateBench bench({.wait_max = 20ms, .takeover_after = 10s});
  Attempt first;
  Attempt second;
  bench.enter(first);
  bench.enter(second);

  bench.run_all();

  CHECK(failed_with(second, Errc::busy));
  Attempt third;
  bench.enter(third);
  CHECK_FALSE(third);
  bench.gate.leave();
  bench.run_all();
  CHECK(succeeded(third));
}

TEST_CASE("upload gate: a silent writer is interrupted for one who waits, and not before") {
  GateBench bench({.wait_max = 60s, .takeover_after = 50ms});
  Attempt first;
  Attempt second;
  int interrupts = 0;
  const auto began = std::chrono::steady_clock::now();
  bench.enter(first, [&] {
    ++interrupts;
    bench.gate.leave();
  });
  bench.enter(second);
  CHECK(interrupts == 0);

  bench.run_all();

  CHECK(succeeded(second));
  CHECK(interrupts == 1);
  CHECK(std::chrono::steady_clock::now() - began >= 50ms);
}

TEST_CASE("upload gate: a silent writer whom nobody waits for is left alone") {
  GateBench bench({.wait_max = 60s, .takeover_after = 1ms});
  Attempt first;
  bool interrupted = false;
  bench.enter(first, [&] { interrupted = true; });
  std::this_thread::sleep_for(20ms);
  bench.run_all();

  CHECK_FALSE(interrupted);
}

TEST_CASE("upload gate: a writer is interrupted once, even if it takes its time to leave") {
  GateBench bench({.wait_max = 60ms, .takeover_after = 5ms});
  Attempt first;
  Attempt second;
  int interrupts = 0;
  bench.enter(first, [&] { ++interrupts; });
  bench.enter(second);

  bench.run_all();

  CHECK(interrupts == 1);
  CHECK(failed_with(second, Errc::busy));
}

TEST_CASE("upload gate: a writer that makes progress is not interrupted") {
  GateBench bench({.wait_max = 60s, .takeover_after = 50ms});
  Attempt first;
  Attempt second;
  bool interrupted = false;
  bench.enter(first, [&] {
    interrupted = true;
    bench.gate.leave();
  });
  bench.enter(second);

  const auto until = std::chrono::steady_clock::now() + 250ms;
  while (std::chrono::steady_clock::now() < until) {
    bench.gate.progress();
    bench.run_ready();
    std::this_thread::sleep_for(1ms);
  }
  CHECK_FALSE(interrupted);
  CHECK_FALSE(second);

  bench.run_all();  // Now it is silent.
  CHECK(interrupted);
  CHECK(succeeded(second));
}

TEST_CASE("upload gate: a writer that waits for our disk is not interrupted until it reads again") {
  GateBench bench({.wait_max = 60s, .takeover_after = 20ms});
  Attempt first;
  Attempt second;
  bool interrupted = false;
  bench.enter(first, [&] {
    interrupted = true;
    bench.gate.leave();
  });
  bench.gate.pause();
  bench.enter(second);

  bench.io.restart();
  bench.io.run_for(150ms);
  CHECK_FALSE(interrupted);

  bench.gate.progress();
  bench.run_all();
  CHECK(interrupted);
  CHECK(succeeded(second));
}

TEST_CASE("upload gate: a writer that begins after a paused one is not taken for paused") {
  GateBench bench({.wait_max = 10s, .takeover_after = 5ms});
  Attempt first;
  Attempt second;
  Attempt third;
  bool interrupted = false;
  bench.enter(first);
  bench.gate.pause();
  bench.gate.leave();
  bench.enter(second, [&] {
    interrupted = true;
    bench.gate.leave();
  });
  bench.enter(third);

  bench.run_all();

  CHECK(interrupted);
  CHECK(succeeded(third));
}

TEST_CASE("upload gate: a seal waits for the writer inside, and then nobody gets in") {
  GateBench bench;
  Attempt writer;
  Attempt seal;
  Attempt late;
  bench.enter(writer);
  bench.seal(seal);
  CHECK_FALSE(seal);
  bench.enter(late);
  CHECK(failed_with(late, Errc::not_found));

  bench.gate.leave();
  bench.run_all();
  CHECK(succeeded(seal));
  late.reset();
  bench.enter(late);
  CHECK(failed_with(late, Errc::not_found));
}

TEST_CASE("upload gate: a seal interrupts a silent writer") {
  GateBench bench({.wait_max = 60s, .takeover_after = 10ms});
  Attempt writer;
  Attempt seal;
  bench.enter(writer, [&] { bench.gate.leave(); });
  bench.seal(seal);

  bench.run_all();

  CHECK(succeeded(seal));
}

TEST_CASE("upload gate: a seal that cannot be had leaves the gate open") {
  GateBench bench;
  Attempt writer;
  Attempt waiting;
  Attempt seal;
  bench.enter(writer);
  bench.enter(waiting);
  bench.seal(seal);
  CHECK(failed_with(seal, Errc::busy));

  bench.gate.leave();
  bench.run_all();
  CHECK(succeeded(waiting));
}

TEST_CASE("upload gate: a seal that waits does not lose its place to a writer") {
  GateBench bench;
  Attempt writer;
  Attempt seal;
  Attempt late;
  bench.enter(writer);
  bench.seal(seal);
  bench.enter(late);
  CHECK(failed_with(late, Errc::not_found));
  CHECK_FALSE(seal);

  bench.gate.leave();
  bench.run_all();
  CHECK(succeeded(seal));
}

TEST_CASE("upload gate: a seal that waited in vain leaves the gate open") {
  GateBench bench({.wait_max = 10ms, .takeover_after = 60s});
  Attempt writer;
  Attempt seal;
  Attempt next;
  bench.enter(writer);
  bench.seal(seal);
  bench.run_all();
  CHECK(failed_with(seal, Errc::busy));

  bench.gate.leave();
  bench.enter(next);
  CHECK(succeeded(next));
}

TEST_CASE("upload gate: of two seals the second is busy; after unseal writers enter again") {
  GateBench bench;
  Attempt first;
  Attempt second;
  bench.seal(first);
  bench.seal(second);
  CHECK(succeeded(first));
  CHECK(failed_with(second, Errc::busy));

  bench.gate.unseal();
  Attempt writer;
  bench.enter(writer);
  CHECK(succeeded(writer));
}

TEST_CASE("upload gate: is idle when nobody is inside, nobody waits, and it is not sealed") {
  GateBench bench;
  CHECK(bench.gate.idle());
  Attempt writer;
  bench.enter(writer);
  CHECK_FALSE(bench.gate.idle());
  bench.gate.leave();
  CHECK(bench.gate.idle());

  Attempt seal;
  bench.seal(seal);
  CHECK_FALSE(bench.gate.idle());
  bench.gate.unseal();
  CHECK(bench.gate.idle());
}

}  // namespace
}  // namespace orlop
