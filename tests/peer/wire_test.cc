#include "peer/wire.h"

#include <catch2/catch.hpp>
#include <string>

#include "core/digester.h"
#include "peer/bitfield.h"
#include "peer/protobuf_fields.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

// What a real agent and a real origin said to each other (kraken-p2p.md, section 6).
const std::string kAgentHandshake =
    "000000b91ab60112283737616132326530646639323364626464376138303239363636336666653061663964"
    "37363731391a4037323339393336316461366137373534666563393836646361356237636261663163383130"
    "6132386465643461626166353662323130366430366362373862302228396337356662313362653562623561"
    "323339616230326238616163303733393761363531373663362a100000000000000003000000000000000032"
    "0c6c6962726172792f74657374";
const std::string kOriginHandshake =
    "000000ab1aa80112283737616132326530646639323364626464376138303239363636336666653061663964"
    "37363731391a4037323339393336316461366137373534666563393836646361356237636261663163383130"
    "6132386465643461626166353662323130366430366362373862302228646237373062626532303534613138"
    "666436663731616564656234313564323936613439623564312a1000000000000000030000000000000007";
constexpr std::string_view kInfoHash = "77aa22e0df923dbdd7a80296663ffe0af9d76719";
constexpr std::string_view kAgent = "9c75fb13be5bb5a239ab02b8aac07397a65176c6";

std::string unprefixed(const std::string& hex) {
  const auto frame = bytes_of_hex(hex);
  const auto bytes = frame_bytes(frame);
  REQUIRE(bytes);
  REQUIRE(*bytes == frame.size() - kFramePrefixBytes);
  return frame.substr(kFramePrefixBytes);
}

PeerMessage message_of(const std::string& hex) {
  const auto message = parse_peer_message(unprefixed(hex));
  REQUIRE(message);
  return *message;
}

/// The agent's handshake with one field of its body replaced, or left out if `bytes` is empty.
std::string handshake_with(std::uint32_t number, std::string_view bytes) {
  std::string body;
  const auto message = unprefixed(kAgentHandshake);
  ProtobufFields outer(message);
  ProtobufFields fields(*outer.next()->bytes);
  while (const auto field = fields.next()) {
    if (field->number != number) append_protobuf(body, field->number, *field->bytes);
  }
  append_protobuf(body, number, bytes);
  std::string made;
  append_protobuf_submessage(made, 3, body);
  return made;
}

std::string bitset(std::uint64_t bits, std::size_t words) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) bytes += static_cast<char>(bits >> shift);
  return bytes + std::string(words * 8, '\0');
}

TEST_CASE("wire: reads a real agent's handshake", "[golden]") {
  const auto handshake = parse_handshake(unprefixed(kAgentHandshake));
  REQUIRE(handshake);
  CHECK(handshake->infohash.hex() == kInfoHash);
  CHECK(handshake->digest == digest_of(as_byte_span("abcdefghij")));
  CHECK(handshake->peer_id.hex() == kAgent);
  CHECK(handshake->name_space == "library/test");
  CHECK(handshake->neighbours.empty());
}

TEST_CASE("wire: answers a handshake as a real origin", "[golden]") {
  const auto frame =
      handshake_frame(*InfoHash::parse(kInfoHash), digest_of(as_byte_span("abcdefghij")),
                      PeerId::from_address("127.0.0.1", 15001), 3);
  REQUIRE(frame);
  CHECK(*frame == bytes_of_hex(kOriginHandshake));
}

TEST_CASE("wire: piece requests and payloads", "[golden]") {
  const auto [hex, index, length] = GENERATE(table<std::string, int, int>({
      {"00000006100122022004", 0, 4},
      {"000000081001220410012004", 1, 4},
      {"000000081001220410022002", 2, 2},
      {"0000000910012205"
       "2080808002",
       0, 4194304},
  }));
  const auto message = message_of(hex);
  const auto* request = std::get_if<PieceRequest>(&message);
  REQUIRE(request != nullptr);
  CHECK(request->index == index);
  CHECK(request->offset == 0);
  CHECK(request->length == length);
}

TEST_CASE("wire: frames that we send", "[golden]") {
  CHECK(payload_frame(0, 4) == bytes_of_hex("0000000610022a022004"));
  CHECK(payload_frame(1, 4) == bytes_of_hex("0000000810022a0410012004"));
  CHECK(payload_frame(2, 2) == bytes_of_hex("0000000810022a0410022002"));
  CHECK(error_frame(3, "no such piece") == bytes_of_hex("000000151005"
                                                        "4211120d6e6f2073756368207069656365"
                                                        "1803"));
}

TEST_CASE("wire: what a seeder need not know is no mistake", "[golden]") {
  // Announced pieces 0 and 9, a cancelled piece, an error, nothing at all, a type of the future, a
  // bitfield in the middle, and fields that nobody knows.
  const std::string hex =
      GENERATE(as<std::string>(), "0000000410033200", "00000006100332021009",
               "0000000610043a021001", "0000001510054211120d6e6f20737563682070696563651803",
               "00000000", "000000021007", "000000021a00", "0000000710077d01020304");
  CHECK(std::holds_alternative<NoConcern>(message_of(hex)));
  CHECK(std::holds_alternative<PeerComplete>(message_of("000000021006")));
}

TEST_CASE("wire: the messages that crash the original are refused") {
  const auto refused = [](const std::string& hex) {
    const auto message = parse_peer_message(bytes_of_hex(hex));
    return !message && message.error().code() == Errc::invalid_argument;
  };
  CHECK(refused("1001"));                            // A request without its body.
  CHECK(refused("1002"));                            // The same of a payload,
  CHECK(refused("1003"));                            // and of an announced piece.
  CHECK(refused("1003320b10ffffffffffffffffff01"));  // Its index is -1.
  CHECK(refused("10022a0b20ffffffffffffffffff01"));  // A payload's length is -1.
  const auto huge = handshake_with(5, bitset(std::uint64_t{1} << 38, 1));
  CHECK_FALSE(parse_handshake(huge));
  // A bit beyond the piece count is only a bit: nobody looks at it.
  CHECK(parse_handshake(handshake_with(5, full_bitfield(70))));
  const auto negative = parse_peer_message(bytes_of_hex("1001220b10ffffffffffffffffff01"));
  REQUIRE(negative);
  CHECK(std::get<PieceRequest>(*negative).index == -1);
}

TEST_CASE("wire: handshakes that are none") {
  CHECK_FALSE(parse_handshake(""));
  CHECK_FALSE(parse_handshake(bytes_of_hex("10012204")));
  CHECK_FALSE(parse_handshake(bytes_of_hex("1006")));
  for (std::uint32_t number = 2; number <= 5; ++number)
    CHECK_FALSE(parse_handshake(handshake_with(number, "")));
  CHECK(parse_handshake(handshake_with(6, "")));
  CHECK_FALSE(parse_handshake(handshake_with(2, std::string(41, 'a'))));
  CHECK_FALSE(parse_handshake(handshake_with(3, std::string(64, 'A'))));
  CHECK_FALSE(parse_handshake(handshake_with(3, "../../../etc/passwd")));
  CHECK_FALSE(parse_handshake(handshake_with(4, std::string(40, 'g'))));
  CHECK_FALSE(parse_handshake(handshake_with(5, "1234567")));
  CHECK_FALSE(parse_handshake(handshake_with(5, bitset(65, 1))));
  CHECK(parse_handshake(handshake_with(5, bitset(64, 2))));
  CHECK_FALSE(parse_handshake(handshake_with(6, "\xff\xfe")));
}

TEST_CASE("wire: neighbours are counted, and must be well-formed") {
  std::string entry;
  append_protobuf(entry, 1, kAgent);
  append_protobuf(entry, 2, bitset(0, 0));
  const auto handshake = parse_handshake(handshake_with(7, entry));
  REQUIRE(handshake);
  REQUIRE(handshake->neighbours.size() == 1);
  CHECK(handshake->neighbours.front().hex() == kAgent);

  CHECK_FALSE(parse_handshake(handshake_with(7, entry.substr(0, entry.size() - 1))));
  std::string bare;
  append_protobuf(bare, 1, kAgent);
  CHECK_FALSE(parse_handshake(handshake_with(7, bare)));
  std::string stranger;
  append_protobuf(stranger, 1, std::string_view("somebody"));
  append_protobuf(stranger, 2, bitset(0, 0));
  CHECK_FALSE(parse_handshake(handshake_with(7, stranger)));
}

TEST_CASE("wire: bitfields as the original's library writes them", "[golden]") {
  CHECK(full_bitfield(0) == bytes_of_hex("0000000000000000"));
  CHECK(full_bitfield(3) == bytes_of_hex("00000000000000030000000000000007"));
  CHECK(full_bitfield(64) == bytes_of_hex("0000000000000040ffffffffffffffff"));
  CHECK(full_bitfield(70) == bytes_of_hex("0000000000000046ffffffffffffffff000000000000003f"));
  CHECK_FALSE(is_bitfield(std::string(8, '\xff')));
}

TEST_CASE("wire: a frame that is too long is refused before it is read") {
  CHECK(*frame_bytes(bytes_of_hex("00008000")) == 32768);
  CHECK_FALSE(frame_bytes(bytes_of_hex("00008001")));
  CHECK_FALSE(frame_bytes(bytes_of_hex("ffffffff")));
}

TEST_CASE("wire: a torrent of too many pieces for the protocol is refused") {
  const auto answer = [](std::uint64_t pieces) {
    return handshake_frame(*InfoHash::parse(kInfoHash), digest_of(as_byte_span("")),
                           PeerId::from_address("127.0.0.1", 15001), pieces);
  };
  CHECK(answer(260'000));
  CHECK_FALSE(answer(262'144));
  CHECK_FALSE(answer(~std::uint64_t{0}));
}

TEST_CASE("wire: no cut of a message is taken for another mistake than malformed") {
  const auto whole = unprefixed(kAgentHandshake);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto handshake = parse_handshake(whole.substr(0, size));
    if (handshake) FAIL("cut at " << size << " and taken");
    REQUIRE(handshake.error().code() == Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace orlop
