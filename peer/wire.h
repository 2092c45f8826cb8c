#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/digest.h"
#include "core/infohash.h"
#include "core/peer_id.h"

namespace orlop {

// The messages of Kraken's piece exchange (proto/p2p/p2p.proto, lib/torrent/scheduler/conn): a
// length of four bytes, big-endian, and so many bytes of protobuf. All of it comes from strangers:
// nothing here allocates more than the bytes at hand, and every mistake is an `invalid_argument`,
// upon which the connection is closed. docs/decisions/0019-seeding.md says why no protobuf library
// reads it.

inline constexpr std::size_t kFramePrefixBytes = 4;
/// The most that may follow the prefix. Agents refuse more.
inline constexpr std::size_t kFrameBytesMax = 32'768;

/// How many bytes follow the prefix. `invalid_argument` if they are too many. Pre: four bytes.
Result<std::size_t> frame_bytes(std::string_view prefix);

/// What whoever dials says first.
struct PeerHandshake {
  InfoHash infohash;
  Digest digest;
  PeerId peer_id;
  std::string name_space;          ///< Of the download; valid UTF-8.
  std::vector<PeerId> neighbours;  ///< To whom it is connected for the same torrent.
};

/// Reads the first frame's bytes. Which pieces the peer has is checked for its form and then
/// forgotten: one who has them all need not know.
Result<PeerHandshake> parse_handshake(std::string_view message);

/// A request for a piece. Any numbers.
struct PieceRequest {
  std::int32_t index = 0;
  std::int32_t offset = 0;
  std::int32_t length = 0;
};
/// The peer sends a piece that nobody asked for: so many bytes follow the frame.
struct UnwantedPayload {
  std::int32_t length = 0;
};
/// The peer has everything: it is done with us.
struct PeerComplete {};
/// What a seeder need not know: announced pieces, cancellations, errors, kinds of the future.
struct NoConcern {};

using PeerMessage = std::variant<NoConcern, PieceRequest, UnwantedPayload, PeerComplete>;

/// Reads the bytes of any later frame. The submessage that belongs to its type must be there.
Result<PeerMessage> parse_peer_message(std::string_view message);

/// Our answer to a handshake, prefix and all: everything is here. `invalid_argument` if the torrent
/// has so many pieces that no agent would take it.
Result<std::string> handshake_frame(InfoHash infohash, Digest digest, PeerId self,
                                    std::uint64_t pieces);

/// What goes before the bytes of a piece.
std::string payload_frame(std::int32_t index, std::int32_t length);

/// That a request was wrong in itself. Of `text` at most a kilobyte is sent.
std::string error_frame(std::int32_t index, std::string_view text);

}  // namespace orlop
