#include "peer/seed_session.h"

#include <sys/sendfile.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/log.h"
#include "peer/wire.h"

namespace orlop {
namespace {

/// One call takes a whole slice; then the other peers get their turn.
constexpr std::uint64_t kSliceBytes = 1 << 20;
/// Agents keep 5 requests on their way. Who has more waits: nothing is read from it meanwhile.
constexpr std::size_t kRequestsMax = 64;
constexpr std::size_t kReadBytes = 4096;
constexpr std::string_view kWrongLength =
    "a piece is only given whole: offset 0 and its own length";

/// What has come and is not a whole frame yet, bounded by the longest one.
class Inbox {
 public:
  /// The next whole frame's bytes; nothing if it is not here yet. Good until the next call.
  Result<std::optional<std::string_view>> take_frame() {
    bytes_.erase(0, std::exchange(taken_, 0));
    if (bytes_.size() < kFramePrefixBytes) return std::optional<std::string_view>();
    const auto size = frame_bytes(bytes_);
    if (!size) return size.error();
    if (bytes_.size() - kFramePrefixBytes < *size) return std::optional<std::string_view>();
    taken_ = kFramePrefixBytes + *size;
    return std::optional<std::string_view>(
        std::string_view(bytes_).substr(kFramePrefixBytes, *size));
  }

  /// Throws away up to `count` bytes of what is here; how many.
  std::uint64_t discard(std::uint64_t count) {
    bytes_.erase(0, std::exchange(taken_, 0));
    const auto here = std::min<std::uint64_t>(count, bytes_.size());
    bytes_.erase(0, static_cast<std::size_t>(here));
    return here;
  }

  void append(std::string_view bytes) { bytes_ += bytes; }

 private:
  std::string bytes_;
  std::size_t taken_ = 0;  ///< Of the frame that was given out last.
};

class SeedSession {
 public:
  SeedSession(Socket socket, Swarm& swarm, SeedSource& source, EgressLimit& egress)
      : swarm_(swarm), source_(source), egress_(egress), connection_(std::move(socket), swarm) {}

  Task<> run() {
    if (!co_await greet()) co_return;
    for (;;) {
      const auto taken = take_messages();
      if (!taken) {
        swarm_.count_malformed();
        log_debug("peer_malformed", {{"peer", connection_.address.to_string()},
                                     {"digest", digest_text_},
                                     {"reason", taken.error().detail()}});
        co_return;
      }
      if (complete_) co_return;
      if (requests_.empty()) {
        if (swarm_.draining()) co_return;
        if (!co_await receive()) co_return;
        continue;
      }
      const auto request = requests_.front();
      requests_.pop_front();
      if (!co_await answer(request)) co_return;
      receive_what_is_here();
    }
  }

 private:
  /// The handshake: theirs, the blob, and ours.
  Task<bool> greet() {
    std::optional<std::string_view> frame;
    while (!frame) {
      auto next = inbox_.take_frame();
      if (next) frame = *next;
      if (!next) swarm_.count_malformed();
      if (!next) co_return false;
      if (!frame && !co_await receive()) co_return false;
    }
    const auto handshake = parse_handshake(*frame);
    if (!handshake) {
      swarm_.count_malformed();
      co_return false;
    }
    digest_text_ = handshake->digest.to_string();
    connection_.hold(true);
    auto opened = co_await source_.open(handshake->digest, handshake->name_space);
    connection_.hold(false);
    // The infohash is compared before anything is said: an agent that got an answer and is hung up
    // on afterwards comes again and again.
    if (!opened || (*opened)->infohash() != handshake->infohash ||
        !swarm_.admit(connection_, *handshake)) {
      swarm_.count_refused();
      co_return false;
    }
    seed_ = *std::move(opened);
    const auto hello = handshake_frame(seed_->infohash(), handshake->digest, swarm_.options().self,
                                       seed_->pieces());
    if (!hello) {
      log_warn("torrent_not_seeded",
               {{"digest", digest_text_}, {"reason", hello.error().detail()}});
      co_return false;
    }
    co_return co_await send(*hello, 0);
  }

  /// Turns the whole frames that are here into requests, but for those that are too many.
  Result<> take_messages() {
    while (requests_.size() < kRequestsMax && !complete_) {
      unwanted_ -= inbox_.discard(unwanted_);
      if (unwanted_ > 0) return {};
      const auto frame = inbox_.take_frame();
      if (!frame) return frame.error();
      if (!*frame) return {};
      const auto message = parse_peer_message(**frame);
      if (!message) return message.error();
      if (const auto* request = std::get_if<PieceRequest>(&*message)) requests_.push_back(*request);
      complete_ = std::holds_alternative<PeerComplete>(*message);
      if (const auto* payload = std::get_if<UnwantedPayload>(&*message)) {
        unwanted_ = static_cast<std::uint64_t>(payload->length);
        if (unwanted_ > seed_->piece_length()) {
          return Error(Errc::invalid_argument, "a payload is longer than any piece");
        }
      }
    }
    return {};
  }

  /// Waits for more. False at the end.
  Task<bool> receive() {
    std::array<char, kReadBytes> bytes;
    const auto [error, count] =
        co_await connection_.socket.async_read_some(asio::buffer(bytes), no_throw);
    if (error) co_return false;
    inbox_.append({bytes.data(), count});
    co_return true;
  }

  /// What came while a piece was sent: so that the next one follows at once. An end is noticed by
  /// whoever waits for more.
  void receive_what_is_here() {
    if (!requests_.empty()) return;
    std::array<char, kReadBytes> bytes;
    const auto count =
        ::recv(connection_.socket.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (count > 0) inbox_.append({bytes.data(), static_cast<std::size_t>(count)});
  }

  Task<bool> answer(PieceRequest request) {
    const auto length = seed_->length_of(request.index);
    if (length == 0 || request.offset != 0 || request.length < 0 ||
        static_cast<std::uint64_t>(request.length) != length) {
      const auto frame =
          error_frame(request.index, length == 0 ? "there is no such piece" : kWrongLength);
      co_return co_await send(frame, 0);
    }
    // Before the frame: an agent that waits in the middle of a message can do nothing else.
    const auto wait = egress_.take(length, PeerConnection::Clock::now());
    if (wait.count() > 0 && !co_await rest(wait)) co_return false;
    const auto offset = static_cast<std::uint64_t>(request.index) * seed_->piece_length();
    connection_.between_pieces = false;
    const bool sent =
        co_await send_piece(payload_frame(request.index, request.length), offset, length);
    connection_.between_pieces = true;
    if (!sent) co_return false;
    swarm_.count_piece(length);
    seed_->used();
    co_return true;
  }

  Task<bool> rest(std::chrono::nanoseconds time) {
    connection_.hold(true);
    SteadyTimer timer(connection_.socket.get_executor(), time);
    co_await timer.async_wait(no_throw);
    connection_.hold(false);
    co_return !swarm_.draining();
  }

  /// A frame and the bytes behind it. Nothing is said before the first bytes are ready: a fault of
  /// ours is then a connection that ends, and no broken message.
  Task<bool> send_piece(std::string frame, std::uint64_t offset, std::uint64_t length) {
    const auto end = offset + length;
    bool said = false;
    while (offset < end) {
      const auto slice = std::min(kSliceBytes, end - offset);
      connection_.hold(true);
      const auto ready = co_await seed_->ready(offset, slice);
      connection_.hold(false);
      if (!ready) {
        log_error("piece_not_sent", {{"digest", digest_text_}, {"reason", ready.error().detail()}});
        co_return false;
      }
      if (!said && !co_await send(frame, MSG_MORE)) co_return false;
      said = true;
      if (*ready) {
        const auto count = std::min<std::uint64_t>((*ready)->size(), end - offset);
        const std::string_view bytes(reinterpret_cast<const char*>((*ready)->data()),
                                     static_cast<std::size_t>(count));
        if (!co_await send(bytes, 0)) co_return false;
        offset += count;
      } else {
        if (!co_await send_file(offset, slice)) co_return false;
        offset += slice;
      }
      if (offset < end) {
        co_await asio::post(connection_.socket.get_executor(), asio::use_awaitable_t<Executor>());
      }
    }
    co_return true;
  }

  Task<bool> send(std::string_view bytes, int flags) {
    while (!bytes.empty()) {
      const auto count = ::send(connection_.socket.native_handle(), bytes.data(), bytes.size(),
                                flags | MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count > 0) {
        connection_.note_progress();
        bytes.remove_prefix(static_cast<std::size_t>(count));
      } else if (!co_await wait_to_send(errno)) {
        co_return false;
      }
    }
    co_return true;
  }

  Task<bool> send_file(std::uint64_t offset, std::uint64_t length) {
    auto from = static_cast<off_t>(offset);
    while (length > 0) {
      const auto count = ::sendfile(connection_.socket.native_handle(), seed_->descriptor(), &from,
                                    static_cast<std::size_t>(length));
      if (count > 0) {
        connection_.note_progress();
        length -= static_cast<std::uint64_t>(count);
      } else if (count == 0) {
        log_error("piece_not_sent",
                  {{"digest", digest_text_}, {"reason", "the file became shorter"}});
        co_return false;
      } else if (!co_await wait_to_send(errno)) {
        co_return false;
      }
    }
    co_return true;
  }

  /// After a call that sent nothing, and why. False if the peer is gone.
  Task<bool> wait_to_send(int error_number) {
    if (error_number == EINTR) co_return true;
    if (error_number != EAGAIN && error_number != EWOULDBLOCK) co_return false;
    const auto [error] = co_await connection_.socket.async_wait(Socket::wait_write, no_throw);
    co_return !error;
  }

  Swarm& swarm_;
  SeedSource& source_;
  EgressLimit& egress_;
  PeerConnection connection_;
  Inbox inbox_;
  std::unique_ptr<Seed> seed_;
  std::string digest_text_;
  std::deque<PieceRequest> requests_;
  std::uint64_t unwanted_ = 0;  ///< Bytes to come of a payload that nobody asked for.
  bool complete_ = false;
};

}  // namespace

Task<> serve_peer(Socket socket, Swarm& swarm, SeedSource& source, EgressLimit& egress) {
  SeedSession session(std::move(socket), swarm, source, egress);
  co_await session.run();
}

}  // namespace orlop
