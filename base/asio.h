#pragma once

// The program's Asio: every header that names an Asio type includes this one, so that all of them
// agree on the executor, and the precompiled header has one thing to hold. Asio and Beast are
// compiled once, in base/asio.cc (BOOST_ASIO_SEPARATE_COMPILATION, set by cmake/room.cmake).

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_signal_set.hpp>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>
#include <exception>

namespace orlop {

namespace asio = boost::asio;

/// A reactor's executor. Concrete and not `any_io_executor`, whose type erasure costs up to 1.5 us
/// a request (docs/decisions/0003-serving-path.md).
using Executor = asio::io_context::executor_type;

/// A coroutine that runs on a reactor.
template <class T = void>
using Task = asio::awaitable<T, Executor>;

using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Acceptor = asio::basic_socket_acceptor<asio::ip::tcp, Executor>;
using SteadyTimer =
    asio::basic_waitable_timer<std::chrono::steady_clock,
                               asio::wait_traits<std::chrono::steady_clock>, Executor>;

/// Awaits with the error as a value: `auto [error, bytes] = co_await read(…, no_throw);`.
/// The only completion token in the program; a peer that hangs up is not an exception.
inline constexpr auto no_throw = asio::as_tuple(asio::use_awaitable_t<Executor>());

/// What to give co_spawn for a coroutine that no one awaits. An exception that gets this far is a
/// bug: it leaves `run()` and ends the process. asio::detached would swallow it.
inline constexpr auto rethrow = [](const std::exception_ptr& exception) {
  if (exception) std::rethrow_exception(exception);
};

}  // namespace orlop
