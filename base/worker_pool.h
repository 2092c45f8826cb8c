#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "base/asio.h"
#include "base/result.h"
#include "base/tally.h"

namespace orlop {

template <class Work>
concept TriviallyDestructible = std::is_trivially_destructible_v<Work>;

/// What a pool does, as of a moment ago. Counts are since the start.
struct WorkerPoolStats {
  std::size_t running = 0;
  std::size_t waiting = 0;
  std::size_t waiting_max = 0;  ///< Then work is refused.
  std::uint64_t refused = 0;
  Distribution waited;  ///< Nanoseconds, of the work that was begun.
  /// How long ago work was last begun, if some waits: large if the threads hang.
  std::chrono::nanoseconds stalled{0};
};

/// Threads for calls that block, with a bounded queue: when it is full, work is refused and not
/// piled up. A hung disk then costs answers of 503 and no memory.
class WorkerPool {
 public:
  WorkerPool(std::size_t threads, std::size_t queue_max)
      : threads_(threads), queue_max_(queue_max), pool_(threads) {}
  /// Waits for what runs and what is queued. The reactors whose coroutines wait for this pool must
  /// outlive it.
  ~WorkerPool() { pool_.join(); }

  /// Runs `work` here and resumes on the caller's reactor. `work` returns a Result and must not
  /// throw; `busy` without running it if the queue is full.
  ///
  /// Capture by reference: the caller's frame is suspended, so what it holds stays put. Captures
  /// that need a destructor do not compile: GCC 12 would run it twice (see CONTRIBUTING.md).
  template <TriviallyDestructible Work>
  Task<std::invoke_result_t<Work&>> run(Work work) {
    if (queued_.load(std::memory_order_relaxed) >= queue_max_) {
      refused_.add();
      co_return Error(Errc::busy, "the queue for disk work is full");
    }
    co_return co_await run_admitted(std::move(work));
  }

  /// As `run`, but never refused: for the rest of what was admitted before.
  template <TriviallyDestructible Work>
  Task<std::invoke_result_t<Work&>> run_admitted(Work work) {
    std::optional<std::invoke_result_t<Work&>> result;
    auto initiate = [&](auto handler) {
      auto resume = [&work, &result, handler = std::move(handler)]() mutable {
        result.emplace(work());
        auto executor = asio::get_associated_executor(handler);
        asio::post(executor, std::move(handler));
      };
      post(std::move(resume));
    };
    co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(
        initiate, asio::use_awaitable_t<Executor>());
    co_return *std::move(result);
  }

  /// Runs `work` here; nobody waits for it. Never refused.
  template <class Work>
  void post(Work work) {
    queued_.fetch_add(1, std::memory_order_relaxed);
    asio::post(pool_, [this, posted = SteadyClock::now(), work = std::move(work)]() mutable {
      begin(posted);
      work();
      queued_.fetch_sub(1, std::memory_order_relaxed);
    });
  }

  /// Work that runs or waits.
  std::size_t queued() const { return queued_.load(std::memory_order_relaxed); }

  /// From any thread.
  WorkerPoolStats stats() const {
    WorkerPoolStats stats;
    const auto all = queued();
    stats.running = std::min(all, threads_);
    stats.waiting = all - stats.running;
    stats.waiting_max = queue_max_ - std::min(queue_max_, threads_);
    stats.refused = refused_.value();
    stats.waited = waited_.read();
    if (stats.waiting > 0) stats.stalled = SteadyClock::now() - begun_.load(kRelaxed);
    return stats;
  }

 private:
  using SteadyClock = std::chrono::steady_clock;
  static constexpr auto kRelaxed = std::memory_order_relaxed;

  void begin(SteadyClock::time_point posted) {
    const auto now = SteadyClock::now();
    begun_.store(now, kRelaxed);
    waited_.add(now - posted);
  }

  const std::size_t threads_;
  const std::size_t queue_max_;
  std::atomic<std::size_t> queued_ = 0;
  SharedTally refused_;
  SharedDurationHistogram waited_;
  std::atomic<SteadyClock::time_point> begun_ = SteadyClock::now();  ///< The last work.
  asio::thread_pool pool_;  // Last: its threads use the counter.
};

}  // namespace orlop
