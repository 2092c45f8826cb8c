#include "peer/swarm.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

#include <algorithm>

namespace orlop {
namespace {

constexpr PeerId kFirstPeer({});

}  // namespace

PeerConnection::PeerConnection(Socket connected, Swarm& in)
    : socket(std::move(connected)), swarm_(in) {
  boost::system::error_code unknown;
  address = socket.remote_endpoint(unknown).address();
  swarm_.connections_.push_back(*this);
  swarm_.connection_count_.fetch_add(1, std::memory_order_relaxed);
  ++swarm_.greeting_;
}

PeerConnection::~PeerConnection() {
  if (state_ == State::greeting) --swarm_.greeting_;
  if (state_ == State::admitted) swarm_.dismiss(*this);
  swarm_.connections_.erase(swarm_.connections_.iterator_to(*this));
  swarm_.connection_count_.fetch_sub(1, std::memory_order_relaxed);
}

void PeerConnection::shut_down() {
  boost::system::error_code ignored;  // The peer may be gone already; either way we are done.
  socket.shutdown(Socket::shutdown_both, ignored);
  socket.cancel(ignored);
}

void PeerConnection::notice_taking() {
  int queued = 0;
  if (::ioctl(socket.native_handle(), SIOCOUTQ, &queued) != 0) return;  // tcp(7)
  if (queued < queued_bytes_) note_progress();
  queued_bytes_ = queued;
}

bool Swarm::has_room() const {
  return connections_.size() < options_.connections_max && greeting_ < options_.handshakes_max;
}

std::size_t Swarm::connections_of(InfoHash torrent) const {
  std::size_t count = 0;
  for (auto at = admitted_.lower_bound({torrent, kFirstPeer});
       at != admitted_.end() && at->first.first == torrent; ++at) {
    ++count;
  }
  return count;
}

bool Swarm::admit(PeerConnection& connection, const PeerHandshake& handshake) {
  const PeerConnection::Key key(handshake.infohash, handshake.peer_id);
  const auto before = admitted_.find(key);
  if (before != admitted_.end()) {
    if (before->second->address != connection.address) return false;
    auto& lost = *before->second;
    dismiss(lost);
    lost.state_ = PeerConnection::State::replaced;
    lost.shut_down();
  }
  if (connections_of(key.first) >= options_.torrent_connections_max) return false;
  const auto mutual = std::count_if(handshake.neighbours.begin(), handshake.neighbours.end(),
                                    [&](const PeerId& neighbour) {
                                      return admitted_.contains({key.first, neighbour});
                                    });
  if (static_cast<std::size_t>(mutual) > options_.neighbours_max) return false;

  if (connections_of(key.first) == 0) torrent_count_.fetch_add(1, std::memory_order_relaxed);
  admitted_.emplace(key, &connection);
  connection.key_ = key;
  connection.state_ = PeerConnection::State::admitted;
  --greeting_;
  connection.note_progress();
  return true;
}

void Swarm::dismiss(PeerConnection& connection) {
  const auto torrent = connection.key_->first;
  admitted_.erase(*connection.key_);
  connection.key_.reset();
  if (connections_of(torrent) == 0) torrent_count_.fetch_sub(1, std::memory_order_relaxed);
}

bool Swarm::over(const PeerConnection& connection, PeerConnection::Clock::time_point now) const {
  if (connection.state_ == PeerConnection::State::greeting) {
    return now - connection.begun_at_ >= options_.handshake_max;
  }
  if (!connection.held_ && now - connection.progress_at_ >= options_.idle_max) return true;
  return connection.between_pieces && now - connection.begun_at_ >= options_.age_max;
}

void Swarm::sweep() {
  const auto now = PeerConnection::Clock::now();
  for (auto& connection : connections_) {
    connection.notice_taking();
    if (over(connection, now)) connection.shut_down();
  }
}

void Swarm::drain() {
  draining_ = true;
  for (auto& connection : connections_) {
    if (connection.between_pieces) connection.shut_down();
  }
}

void Swarm::close_all() {
  for (auto& connection : connections_) connection.shut_down();
}

SwarmStats Swarm::stats() const {
  const auto read = [](const auto& value) { return value.load(std::memory_order_relaxed); };
  return {.connections = read(connection_count_),
          .torrents = read(torrent_count_),
          .pieces = read(pieces_),
          .bytes = read(bytes_),
          .refused = read(refused_),
          .malformed = read(malformed_)};
}

}  // namespace orlop
