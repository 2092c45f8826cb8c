#pragma once

#include <optional>
#include <type_traits>
#include <utility>

#include "base/asio.h"

namespace orlop {

template <class Work>
concept TriviallyDestructible = std::is_trivially_destructible_v<Work>;

/// Runs `work` on `pool` and resumes on the caller's reactor. For calls that block: disk, RocksDB.
///
/// Capture by reference: the caller's frame is suspended, so what it holds stays put. Captures that
/// need a destructor do not compile, because GCC 12 would run it twice (see CONTRIBUTING.md).
/// `work` must not throw. The pool must be joined before the caller's io_context goes.
template <TriviallyDestructible Work>
Task<std::invoke_result_t<Work&>> run_on(asio::thread_pool& pool, Work work) {
  std::optional<std::invoke_result_t<Work&>> result;
  auto initiate = [&](auto handler) {
    auto run = [&work, &result, handler = std::move(handler)]() mutable {
      result.emplace(work());
      auto executor = asio::get_associated_executor(handler);
      asio::post(executor, std::move(handler));
    };
    asio::post(pool, std::move(run));
  };
  co_await asio::async_initiate<const asio::use_awaitable_t<Executor>, void()>(
      initiate, asio::use_awaitable_t<Executor>());
  co_return *std::move(result);
}

}  // namespace orlop
