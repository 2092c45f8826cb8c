// Frames come from whoever reaches the peer port. Properties of every input: a handshake that is
// taken has a digest, an infohash and ids that are spelled as they were sent, and says the same
// when it is sent again without what is not kept; a message that is taken has no negative payload;
// and a frame's length is what its prefix says, and never above the limit.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "base/check.h"
#include "core/utf8.h"
#include "peer/bitfield.h"
#include "peer/protobuf_fields.h"
#include "peer/wire.h"

namespace {

std::string sent_again(const orlop::PeerHandshake& handshake) {
  std::string body;
  orlop::append_protobuf(body, 2, handshake.infohash.hex());
  orlop::append_protobuf(body, 3, handshake.digest.hex());
  orlop::append_protobuf(body, 4, handshake.peer_id.hex());
  orlop::append_protobuf(body, 5, orlop::full_bitfield(3));
  orlop::append_protobuf(body, 6, handshake.name_space);
  for (const auto& neighbour : handshake.neighbours) {
    std::string entry;
    orlop::append_protobuf(entry, 1, neighbour.hex());
    orlop::append_protobuf(entry, 2, orlop::full_bitfield(0));
    orlop::append_protobuf_submessage(body, 7, entry);
  }
  std::string message;
  orlop::append_protobuf_submessage(message, 3, body);
  return message;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const auto handshake = orlop::parse_handshake(bytes)) {
    ORLOP_CHECK(orlop::is_utf8(handshake->name_space));
    ORLOP_CHECK(bytes.find(handshake->digest.hex()) != std::string_view::npos);
    ORLOP_CHECK(handshake->neighbours.size() * 40 <= bytes.size());
    const auto again = orlop::parse_handshake(sent_again(*handshake));
    ORLOP_CHECK(again);
    ORLOP_CHECK(again->infohash == handshake->infohash && again->digest == handshake->digest);
    ORLOP_CHECK(again->peer_id == handshake->peer_id);
    ORLOP_CHECK(again->name_space == handshake->name_space);
    ORLOP_CHECK(again->neighbours == handshake->neighbours);
  }
  if (const auto message = orlop::parse_peer_message(bytes)) {
    if (const auto* payload = std::get_if<orlop::UnwantedPayload>(&*message)) {
      ORLOP_CHECK(payload->length >= 0);
    }
  }
  if (size >= orlop::kFramePrefixBytes) {
    if (const auto length = orlop::frame_bytes(bytes))
      ORLOP_CHECK(*length <= orlop::kFrameBytesMax);
  }
  return 0;
}
