#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/asio.h"
#include "core/infohash.h"
#include "core/peer_id.h"
#include "peer/wire.h"

namespace orlop {

/// `scheduler:` in the configuration; the defaults are Kraken's.
struct SeederOptions {
  std::string listen_address = "127.0.0.1";
  std::uint16_t port = 0;  ///< 0: any free one.
  PeerId self{{}};         ///< The same as in /internal/peercontext: agents compare.
  std::chrono::nanoseconds handshake_max{
      std::chrono::seconds(5)};  ///< From the accept to our answer.
  /// A connection that took no byte for so long is closed. conn_tti.
  std::chrono::nanoseconds idle_max{std::chrono::seconds(30)};
  std::chrono::nanoseconds age_max{std::chrono::hours(1)};  ///< conn_ttl.
  std::size_t torrent_connections_max = 10;                 ///< connstate.max_open_conn
  /// Of the peer's neighbours so many may be connected here too. connstate.max_mutual_conn
  std::size_t neighbours_max = 10;
  std::size_t connections_max = 2'000;        ///< Of all torrents. Ours.
  std::size_t handshakes_max = 256;           ///< That are not complete yet. Ours.
  std::uint64_t egress_bytes_per_second = 0;  ///< 0: no limit. conn.bandwidth
};

struct SwarmStats {
  std::uint64_t connections = 0;  ///< Now, handshakes included.
  std::uint64_t torrents = 0;     ///< Now: blobs with a connection.
  std::uint64_t pieces = 0;       ///< Sent whole, since the start; as the others below.
  std::uint64_t bytes = 0;
  std::uint64_t refused = 0;    ///< Connections: a limit, an absent blob, another infohash.
  std::uint64_t malformed = 0;  ///< Connections closed for what the peer sent.
};

class Swarm;

/// One peer's connection, in its swarm for as long as it lives.
class PeerConnection : public boost::intrusive::list_base_hook<> {
 public:
  using Clock = std::chrono::steady_clock;
  /// A torrent and a peer: one connection each.
  using Key = std::pair<InfoHash, PeerId>;

  PeerConnection(Socket connected, Swarm& in);
  PeerConnection(const PeerConnection&) = delete;
  PeerConnection& operator=(const PeerConnection&) = delete;
  ~PeerConnection();

  /// The peer took bytes.
  void note_progress() { progress_at_ = Clock::now(); }
  /// It waits for something of ours, so it is not idle.
  void hold(bool on) {
    held_ = on;
    note_progress();
  }
  void shut_down();

  Socket socket;
  asio::ip::address address;   ///< The peer's.
  bool between_pieces = true;  ///< May be closed without breaking a piece off.

 private:
  friend class Swarm;

  /// What the peer takes out of the kernel's send queue, where megabytes lie, is progress too.
  void notice_taking();

  Swarm& swarm_;
  const Clock::time_point begun_at_ = Clock::now();
  Clock::time_point progress_at_ = begun_at_;
  bool held_ = false;
  int queued_bytes_ = 0;  ///< At the last look: sent, and not acknowledged.
  enum class State : std::uint8_t { greeting, admitted, replaced } state_ = State::greeting;
  std::optional<Key> key_;  ///< While it is admitted.
};

/// The connections to all peers, and who may have one. On one thread, but for `stats`.
class Swarm {
 public:
  explicit Swarm(const SeederOptions& options) : options_(options) {}

  const SeederOptions& options() const { return options_; }
  /// Whether one more connection may be accepted.
  bool has_room() const;
  /// After the handshake. False: it must be closed. A peer that connects again from the same
  /// address has lost its first connection, whether or not we have noticed: the new one takes its
  /// place (an agent never opens a second one while it holds the first).
  bool admit(PeerConnection& connection, const PeerHandshake& handshake);

  /// Shuts down what is idle, too old, or has not said who it is. Once a second.
  void sweep();
  void drain();
  void close_all();
  bool draining() const { return draining_; }
  bool empty() const { return connections_.empty(); }

  void count_refused() { refused_.fetch_add(1, std::memory_order_relaxed); }
  void count_malformed() { malformed_.fetch_add(1, std::memory_order_relaxed); }
  void count_piece(std::uint64_t bytes) {
    pieces_.fetch_add(1, std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
  }
  /// From any thread.
  SwarmStats stats() const;

 private:
  friend class PeerConnection;

  std::size_t connections_of(InfoHash torrent) const;
  bool over(const PeerConnection& connection, PeerConnection::Clock::time_point now) const;
  void dismiss(PeerConnection& connection);

  const SeederOptions options_;
  boost::intrusive::list<PeerConnection> connections_;
  std::map<PeerConnection::Key, PeerConnection*> admitted_;  // In the order of the torrents.
  std::size_t greeting_ = 0;  ///< Connections that are not admitted yet.
  bool draining_ = false;

  std::atomic<std::uint64_t> connection_count_ = 0;
  std::atomic<std::uint64_t> torrent_count_ = 0;
  std::atomic<std::uint64_t> pieces_ = 0;
  std::atomic<std::uint64_t> bytes_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
  std::atomic<std::uint64_t> malformed_ = 0;
};

}  // namespace orlop
