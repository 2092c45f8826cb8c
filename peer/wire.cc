#include "peer/wire.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/utf8.h"
#include "peer/bitfield.h"
#include "peer/protobuf_fields.h"

namespace orlop {
namespace {

/// Message.type; and the numbers of the submessages that belong to the types.
enum Type : std::uint64_t {
  kTypeBitfield = 0,
  kTypePieceRequest = 1,
  kTypePiecePayload = 2,
  kTypeAnnouncePiece = 3,
  kTypeError = 5,
  kTypeComplete = 6,
};
constexpr std::uint32_t kFieldType = 2;
constexpr std::uint32_t kFieldBitfield = 3;
constexpr std::uint32_t kFieldPieceRequest = 4;
constexpr std::uint32_t kFieldPiecePayload = 5;
constexpr std::uint32_t kFieldAnnouncePiece = 6;
constexpr std::uint32_t kFieldError = 8;

constexpr std::size_t kErrorTextMax = 1024;

Error malformed(const char* what) { return Error(Errc::invalid_argument, what); }

/// protobuf's int32: a varint of 64 bits of which the lower half counts.
std::int32_t to_int32(std::uint64_t varint) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(varint));
}

/// A frame's bytes, cut into the parts that we know. Of a field that is there twice the last one
/// counts; a submessage that is there twice, which no encoder makes, is not merged.
struct Envelope {
  std::uint64_t type = 0;
  std::optional<std::string_view> bitfield;
  std::optional<std::string_view> piece_request;
  std::optional<std::string_view> piece_payload;
  std::optional<std::string_view> announce_piece;
};

Result<Envelope> open_envelope(std::string_view message) {
  Envelope envelope;
  ProtobufFields fields(message);
  while (const auto field = fields.next()) {
    if (field->number == kFieldType && field->varint) envelope.type = *field->varint;
    if (field->number == kFieldBitfield && field->bytes) envelope.bitfield = field->bytes;
    if (field->number == kFieldPieceRequest && field->bytes) envelope.piece_request = field->bytes;
    if (field->number == kFieldPiecePayload && field->bytes) envelope.piece_payload = field->bytes;
    if (field->number == kFieldAnnouncePiece && field->bytes) {
      envelope.announce_piece = field->bytes;
    }
  }
  if (fields.malformed()) return malformed("a message is no protobuf");
  return envelope;
}

/// Of PieceRequestMessage and PiecePayloadMessage, whose first fields are the same.
Result<PieceRequest> parse_piece(std::string_view bytes) {
  PieceRequest piece;
  ProtobufFields fields(bytes);
  while (const auto field = fields.next()) {
    if (!field->varint) continue;
    if (field->number == 2) piece.index = to_int32(*field->varint);
    if (field->number == 3) piece.offset = to_int32(*field->varint);
    if (field->number == 4) piece.length = to_int32(*field->varint);
  }
  if (fields.malformed()) return malformed("a message is no protobuf");
  return piece;
}

/// An entry of the map from peer ids to sets.
Result<PeerId> parse_neighbour(std::string_view entry) {
  std::string_view key;
  std::string_view value;
  ProtobufFields fields(entry);
  while (const auto field = fields.next()) {
    if (field->number == 1 && field->bytes) key = *field->bytes;
    if (field->number == 2 && field->bytes) value = *field->bytes;
  }
  if (fields.malformed()) return malformed("a neighbour is no protobuf");
  if (!is_bitfield(value)) return malformed("a neighbour's bitfield is malformed");
  return PeerId::parse(key);
}

void put_frame_bytes(std::string& frame) {
  const auto bytes = frame.size() - kFramePrefixBytes;
  for (std::size_t i = 0; i < kFramePrefixBytes; ++i) {
    frame[i] = static_cast<char>(bytes >> (24 - 8 * i));
  }
}

/// A frame with a type and the submessage that belongs to it.
std::string frame_of(Type type, std::uint32_t number, std::string_view submessage) {
  std::string frame(kFramePrefixBytes, '\0');
  append_protobuf(frame, kFieldType, std::uint64_t{type});
  append_protobuf_submessage(frame, number, submessage);
  put_frame_bytes(frame);
  return frame;
}

}  // namespace

Result<std::size_t> frame_bytes(std::string_view prefix) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kFramePrefixBytes; ++i) {
    bytes = bytes << 8 | static_cast<unsigned char>(prefix[i]);
  }
  if (bytes > kFrameBytesMax) return malformed("a message is longer than 32768 bytes");
  return bytes;
}

Result<PeerHandshake> parse_handshake(std::string_view message) {
  const auto envelope = open_envelope(message);
  if (!envelope) return envelope.error();
  if (envelope->type != kTypeBitfield || !envelope->bitfield) {
    return malformed("the first message is no handshake");
  }
  std::string_view infohash;
  std::string_view name;
  std::string_view peer_id;
  std::string_view bitfield;
  std::string_view name_space;
  std::vector<PeerId> neighbours;
  ProtobufFields fields(*envelope->bitfield);
  while (const auto field = fields.next()) {
    if (!field->bytes) continue;
    switch (field->number) {
      case 2: infohash = *field->bytes; break;
      case 3: name = *field->bytes; break;
      case 4: peer_id = *field->bytes; break;
      case 5: bitfield = *field->bytes; break;
      case 6: name_space = *field->bytes; break;
      case 7: {
        auto neighbour = parse_neighbour(*field->bytes);
        if (!neighbour) return std::move(neighbour).error();
        neighbours.push_back(*neighbour);
        break;
      }
      default: break;
    }
  }
  if (fields.malformed()) return malformed("the handshake is no protobuf");
  if (!is_bitfield(bitfield)) return malformed("the handshake's bitfield is malformed");
  if (!is_utf8(name_space)) return malformed("the handshake's namespace is no UTF-8");
  const auto parsed_infohash = InfoHash::parse(infohash);
  if (!parsed_infohash) return parsed_infohash.error();
  const auto digest = Digest::parse_hex(name);
  if (!digest) return digest.error();
  const auto parsed_peer_id = PeerId::parse(peer_id);
  if (!parsed_peer_id) return parsed_peer_id.error();
  return PeerHandshake{.infohash = *parsed_infohash,
                       .digest = *digest,
                       .peer_id = *parsed_peer_id,
                       .name_space = std::string(name_space),
                       .neighbours = std::move(neighbours)};
}

Result<PeerMessage> parse_peer_message(std::string_view message) {
  const auto envelope = open_envelope(message);
  if (!envelope) return envelope.error();
  switch (envelope->type) {
    case kTypePieceRequest: {
      if (!envelope->piece_request) return malformed("a piece request says nothing");
      const auto request = parse_piece(*envelope->piece_request);
      if (!request) return request.error();
      return PeerMessage(*request);
    }
    case kTypePiecePayload: {
      if (!envelope->piece_payload) return malformed("a piece payload says nothing");
      const auto payload = parse_piece(*envelope->piece_payload);
      if (!payload) return payload.error();
      if (payload->length < 0) return malformed("a piece payload has a negative length");
      return PeerMessage(UnwantedPayload{.length = payload->length});
    }
    case kTypeAnnouncePiece: {
      if (!envelope->announce_piece) return malformed("an announced piece says nothing");
      const auto piece = parse_piece(*envelope->announce_piece);
      if (!piece) return piece.error();
      if (piece->index < 0) return malformed("an announced piece has a negative index");
      return PeerMessage(NoConcern{});
    }
    case kTypeComplete: return PeerMessage(PeerComplete{});
    default: return PeerMessage(NoConcern{});
  }
}

Result<std::string> handshake_frame(InfoHash infohash, Digest digest, PeerId self,
                                    std::uint64_t pieces) {
  // Checked before anything is made of it.
  if (pieces / 8 > kFrameBytesMax) return malformed("the torrent has too many pieces");
  std::string handshake;
  append_protobuf(handshake, 2, infohash.hex());
  append_protobuf(handshake, 3, digest.hex());
  append_protobuf(handshake, 4, self.hex());
  append_protobuf(handshake, 5, full_bitfield(pieces));
  auto frame = frame_of(kTypeBitfield, kFieldBitfield, handshake);
  if (frame.size() - kFramePrefixBytes > kFrameBytesMax) {
    return malformed("the torrent has too many pieces");
  }
  return frame;
}

std::string payload_frame(std::int32_t index, std::int32_t length) {
  std::string payload;
  append_protobuf(payload, 2, static_cast<std::uint64_t>(index));
  append_protobuf(payload, 4, static_cast<std::uint64_t>(length));
  return frame_of(kTypePiecePayload, kFieldPiecePayload, payload);
}

std::string error_frame(std::int32_t index, std::string_view text) {
  std::string error;
  append_protobuf(error, 2, text.substr(0, kErrorTextMax));
  append_protobuf(error, 3, static_cast<std::uint64_t>(std::int64_t{index}));
  return frame_of(kTypeError, kFieldError, error);
}

}  // namespace orlop
