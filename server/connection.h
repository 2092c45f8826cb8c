#pragma once

#include <boost/beast/core/flat_buffer.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "base/asio.h"
#include "server/reactor_counts.h"

namespace orlop {

class ConnectionGroup;

/// One client's connection: the socket, what was read ahead from it, and until when the client has
/// to do something. In its group for as long as it lives.
class Connection : public boost::intrusive::list_base_hook<> {
 public:
  using Clock = std::chrono::steady_clock;

  Connection(Socket connected, ConnectionGroup& in);
  ~Connection();

  /// The client must make progress within `limit` from now.
  void expect_progress(std::chrono::nanoseconds limit) {
    deadline_ = Clock::now() + limit;
    taking_max_ = {};
  }
  /// The same while we send: what the client takes out of the kernel's send queue is progress too.
  /// Megabytes lie there, and a slow but honest client may need minutes until there is room for
  /// more and a write of ours goes on.
  void expect_taking(std::chrono::nanoseconds limit) {
    deadline_ = Clock::now() + limit;
    taking_max_ = limit;
    queued_bytes_ = kUnknown;
  }
  /// It is our turn: the client may wait for as long as we take.
  void expect_nothing() {
    deadline_ = Clock::time_point::max();
    taking_max_ = {};
  }

  /// Makes pending and later reads and writes fail.
  void shut_down();

  /// A function that shuts this connection down, from any thread, or does nothing if it is gone.
  std::function<void()> interrupter();

  /// So many bytes came from the socket, or were handed to it. Whoever reads or writes it says so.
  void received(std::size_t bytes);
  void sent(std::size_t bytes);

  Socket socket;
  boost::beast::flat_buffer buffer;  ///< Received, not yet parsed.
  bool idle = true;  ///< Between requests: may be closed without breaking a promise.

 private:
  friend class ConnectionGroup;

  /// Shared with interrupters. Cleared by the destructor, on the reactor where they run too.
  struct Handle {
    Connection* connection;
  };

  static constexpr int kUnknown = -1;

  /// Moves the deadline if the client has taken something since the last look.
  void notice_taking(Clock::time_point now);

  ConnectionGroup& group_;
  std::chrono::nanoseconds taking_max_{0};  ///< Positive while we send.
  int queued_bytes_ = kUnknown;             ///< At the last look: sent, and not acknowledged.
  Clock::time_point deadline_ = Clock::time_point::max();
  std::shared_ptr<Handle> handle_;
};

/// The connections of one reactor. Touched on that reactor only.
class ConnectionGroup {
 public:
  /// Shuts down every connection whose deadline has passed. Once a second.
  void sweep();
  /// From now on connections end after the request that they are in; idle ones end at once.
  void drain();
  void close_all();

  bool draining() const { return draining_; }
  bool empty() const { return connections_.empty(); }

  ReactorCounts counts;  ///< Of what these connections do.

 private:
  friend class Connection;
  boost::intrusive::list<Connection> connections_;
  bool draining_ = false;
};

inline void Connection::received(std::size_t bytes) { group_.counts.received(bytes); }
inline void Connection::sent(std::size_t bytes) { group_.counts.sent(bytes); }

}  // namespace orlop
