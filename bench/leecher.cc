// Downloads a blob over the peer port, as many Kraken agents at once would: one thread, epoll.
//
//   leecher --port P --metainfo FILE --agents N --rounds R [--verify]
//
// Each agent dials, says who it is, keeps five pieces on their way and hangs up with the last one;
// R times. With --verify every piece is compared with its sum and the whole with its digest;
// without, the kernel throws the bytes away (MSG_TRUNC), so that what is measured is the seeder.
// Prints one JSON line. Exit status 1 if anything was not as it must be.

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/crc32.h"
#include "core/digester.h"
#include "core/metainfo.h"
#include "core/peer_id.h"
#include "peer/bitfield.h"
#include "peer/protobuf_fields.h"

namespace orlop {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kPipeline = 5;
constexpr std::size_t kPrefixBytes = 4;
constexpr std::size_t kReadBytes = 1 << 20;
constexpr int kReadsMax = 4;
constexpr int kSecondsMax = 600;

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "leecher: %s\n", why.c_str());
  std::exit(EXIT_FAILURE);
}

struct Options {
  std::uint16_t port = 0;
  std::string metainfo_path;
  std::size_t agents = 1;
  std::size_t rounds = 1;
  bool verify = false;
};

Options parse(int argc, char** argv) {
  Options options;
  const auto number = [](std::string_view text) {
    std::size_t value = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (failed != std::errc() || end != text.data() + text.size()) give_up("expected a number");
    return value;
  };
  for (int i = 1; i < argc; ++i) {
    const std::string_view name = argv[i];
    if (name == "--verify") {
      options.verify = true;
      continue;
    }
    if (i + 1 == argc) give_up("a flag without its value");
    const std::string_view value = argv[++i];
    if (name == "--port") options.port = static_cast<std::uint16_t>(number(value));
    if (name == "--metainfo") options.metainfo_path = value;
    if (name == "--agents") options.agents = number(value);
    if (name == "--rounds") options.rounds = number(value);
  }
  return options;
}

std::string framed(const std::string& message) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame += static_cast<char>(message.size() >> shift);
  return frame + message;
}

/// What all agents download.
struct Torrent {
  MetaInfo metainfo;

  std::uint64_t pieces() const { return metainfo.piece_sums().size(); }
  std::uint64_t length_of(std::uint64_t index) const {
    return std::min(metainfo.piece_length(),
                    metainfo.size_bytes() - index * metainfo.piece_length());
  }

  std::string handshake(std::size_t agent) const {
    std::string body;
    append_protobuf(body, 2, metainfo.infohash().hex());
    append_protobuf(body, 3, metainfo.digest().hex());
    append_protobuf(body, 4,
                    PeerId::from_address("10.0.0.1", static_cast<std::uint16_t>(agent)).hex());
    auto none = full_bitfield(pieces());
    std::fill(none.begin() + 8, none.end(), '\0');
    append_protobuf(body, 5, none);
    append_protobuf(body, 6, std::string_view("bench"));
    std::string message;
    append_protobuf_submessage(message, 3, body);
    return framed(message);
  }

  std::string request(std::uint64_t index) const {
    std::string body;
    append_protobuf(body, 2, index);
    append_protobuf(body, 4, length_of(index));
    std::string message;
    append_protobuf(message, 2, std::uint64_t{1});
    append_protobuf_submessage(message, 4, body);
    return framed(message);
  }
};

/// One agent, from its dial to its last piece.
class Agent {
 public:
  Agent(const Torrent& torrent, std::size_t number, const Options& options, int epoll)
      : torrent_(torrent), number_(number), options_(options), epoll_(epoll) {}
  ~Agent() { hang_up(); }
  Agent(const Agent&) = delete;
  Agent& operator=(const Agent&) = delete;

  void dial() {
    hang_up();
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to = {};
    to.sin_family = AF_INET;
    to.sin_port = htons(options_.port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (::connect(socket_, reinterpret_cast<sockaddr*>(&to), sizeof to) != 0) give_up("connect");
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.ptr = this;
    ::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket_, &event);
    greeted_ = false;
    asked_ = taken_ = 0;
    payload_left_ = 0;
    inbox_.clear();
    whole_ = Digester();
    say(torrent_.handshake(number_));
  }

  /// Takes some of what is here, so that all agents get on. True if it was the last of this round.
  bool take(std::vector<std::byte>& buffer) {
    for (int reads = 0; reads < kReadsMax; ++reads) {
      const bool discard = payload_left_ > 0 && inbox_.empty() && !options_.verify;
      const auto want = payload_left_ > 0 ? std::min<std::uint64_t>(buffer.size(), payload_left_)
                                          : std::uint64_t{512};
      const auto count = ::recv(socket_, buffer.data(), static_cast<std::size_t>(want),
                                MSG_DONTWAIT | (discard ? MSG_TRUNC : 0));
      if (count < 0 && errno == EAGAIN) return false;
      if (count <= 0) give_up("the seeder hung up");
      if (discard) {
        payload_left_ -= static_cast<std::uint64_t>(count);
      } else {
        inbox_.append(reinterpret_cast<const char*>(buffer.data()),
                      static_cast<std::size_t>(count));
      }
      if (digest_inbox()) return true;
    }
    return false;
  }

  std::uint64_t bytes() const { return bytes_; }

 private:
  void hang_up() {
    if (socket_ >= 0) ::close(socket_);
    socket_ = -1;
  }

  void say(const std::string& text) {
    if (::send(socket_, text.data(), text.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(text.size())) {
      give_up("send");
    }
  }

  bool digest_inbox() {
    for (;;) {
      if (payload_left_ > 0) {
        const auto here = std::min<std::uint64_t>(payload_left_, inbox_.size());
        if (options_.verify) piece_.append(inbox_, 0, static_cast<std::size_t>(here));
        inbox_.erase(0, static_cast<std::size_t>(here));
        payload_left_ -= here;
      }
      if (payload_left_ > 0) return false;
      if (in_piece_) {
        in_piece_ = false;
        if (end_piece()) return true;
      }
      if (!begin_frame()) return false;
    }
  }

  /// True if there was a whole frame.
  bool begin_frame() {
    if (inbox_.size() < kPrefixBytes) return false;
    std::size_t size = 0;
    for (std::size_t i = 0; i < kPrefixBytes; ++i) {
      size = size << 8 | static_cast<unsigned char>(inbox_[i]);
    }
    if (inbox_.size() - kPrefixBytes < size) return false;
    const auto message = inbox_.substr(kPrefixBytes, size);
    inbox_.erase(0, kPrefixBytes + size);
    if (!greeted_) {
      greeted_ = true;
      while (asked_ < std::min<std::uint64_t>(kPipeline, torrent_.pieces())) ask();
      return true;
    }
    ProtobufFields fields(message);
    std::uint64_t type = 0;
    std::uint64_t length = 0;
    index_ = 0;
    while (const auto field = fields.next()) {
      if (field->number == 2 && field->varint) type = *field->varint;
      if (field->number != 5 || !field->bytes) continue;
      ProtobufFields payload(*field->bytes);
      while (const auto part = payload.next()) {
        if (part->number == 2 && part->varint) index_ = *part->varint;
        if (part->number == 4 && part->varint) length = *part->varint;
      }
    }
    if (type != 2 || index_ != taken_ || length != torrent_.length_of(index_)) {
      give_up("not the piece that was asked for");
    }
    payload_left_ = length;
    in_piece_ = true;
    return true;
  }

  bool end_piece() {
    bytes_ += torrent_.length_of(index_);
    if (options_.verify) {
      const auto bytes = std::as_bytes(std::span(piece_.data(), piece_.size()));
      if (crc32(0, bytes) != torrent_.metainfo.piece_sums()[index_]) give_up("a wrong piece");
      whole_.update(bytes);
      piece_.clear();
    }
    ++taken_;
    if (asked_ < torrent_.pieces()) ask();
    if (taken_ < torrent_.pieces()) return false;
    if (options_.verify && std::move(whole_).finish() != torrent_.metainfo.digest()) {
      give_up("the pieces are not the blob");
    }
    return true;
  }

  void ask() { say(torrent_.request(asked_++)); }

  const Torrent& torrent_;
  const std::size_t number_;
  const Options& options_;
  const int epoll_;
  int socket_ = -1;
  bool greeted_ = false;
  std::uint64_t asked_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t index_ = 0;
  bool in_piece_ = false;
  std::uint64_t payload_left_ = 0;
  std::uint64_t bytes_ = 0;
  std::string inbox_;
  std::string piece_;
  Digester whole_;
};

int run(const Options& options) {
  std::ifstream file(options.metainfo_path, std::ios::binary);
  const std::string json((std::istreambuf_iterator<char>(file)), {});
  auto metainfo = MetaInfo::parse_json(json);
  if (!metainfo) give_up(metainfo.error().detail());
  const Torrent torrent{.metainfo = *std::move(metainfo)};
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  std::vector<std::unique_ptr<Agent>> agents;
  for (std::size_t i = 0; i < options.agents; ++i) {
    agents.push_back(std::make_unique<Agent>(torrent, i, options, epoll));
  }
  const auto begun = Clock::now();
  for (const auto& agent : agents) agent->dial();
  std::vector<std::byte> buffer(kReadBytes);
  std::array<epoll_event, 64> events;
  std::size_t left = options.agents * options.rounds;
  std::size_t to_dial = left - options.agents;
  while (left > 0) {
    if (Clock::now() - begun > std::chrono::seconds(kSecondsMax)) give_up("too slow");
    const int count = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), 1000);
    for (int i = 0; i < count; ++i) {
      auto& agent = *static_cast<Agent*>(events[static_cast<std::size_t>(i)].data.ptr);
      if (!agent.take(buffer)) continue;
      --left;
      if (to_dial > 0) {
        --to_dial;
        agent.dial();
      }
    }
  }
  const std::chrono::duration<double> took = Clock::now() - begun;
  std::uint64_t bytes = 0;
  for (const auto& agent : agents) bytes += agent->bytes();
  std::printf("{\"agents\":%zu,\"bytes\":%llu,\"seconds\":%.3f}\n", options.agents,
              static_cast<unsigned long long>(bytes), took.count());
  return EXIT_SUCCESS;
}

}  // namespace
}  // namespace orlop

int main(int argc, char** argv) { return orlop::run(orlop::parse(argc, argv)); }
