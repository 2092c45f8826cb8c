#include "server/connection.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <utility>

namespace orlop {

void ConnectionGroup::sweep() {
  const auto now = Connection::Clock::now();
  for (auto& connection : connections_) {
    connection.notice_taking(now);
    if (connection.deadline_ <= now) connection.shut_down();
  }
}

void ConnectionGroup::drain() {
  draining_ = true;
  for (auto& connection : connections_) {
    if (connection.idle) connection.shut_down();
  }
}

void ConnectionGroup::close_all() {
  for (auto& connection : connections_) connection.shut_down();
}

Connection::Connection(Socket connected, ConnectionGroup& in)
    : socket(std::move(connected)), group_(in) {
  group_.connections_.push_back(*this);
}

Connection::~Connection() {
  if (handle_ != nullptr) handle_->connection = nullptr;
  group_.connections_.erase(group_.connections_.iterator_to(*this));
}

void Connection::shut_down() {
  boost::system::error_code ignored;  // The client may be gone already; either way we are done.
  socket.shutdown(Socket::shutdown_both, ignored);
  socket.cancel(ignored);
}

void Connection::notice_taking(Clock::time_point now) {
  int queued = 0;
  if (taking_max_.count() == 0) return;
  if (::ioctl(socket.native_handle(), SIOCOUTQ, &queued) != 0) return;  // tcp(7)
  if (queued_bytes_ != kUnknown && queued < queued_bytes_) deadline_ = now + taking_max_;
  queued_bytes_ = queued;
}

std::function<void()> Connection::interrupter() {
  if (handle_ == nullptr) handle_ = std::make_shared<Handle>(Handle{this});
  return [executor = socket.get_executor(), handle = handle_] {
    asio::post(executor, [handle] {
      if (handle->connection != nullptr) handle->connection->shut_down();
    });
  };
}

}  // namespace orlop
