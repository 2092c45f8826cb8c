#include "core/peer_id.h"

#include "base/hex.h"
#include "core/quote.h"
#include "core/sha1.h"

namespace orlop {

Result<PeerId> PeerId::parse(std::string_view hex) {
  std::array<std::uint8_t, kBytes> bytes;
  if (from_hex(hex, bytes)) return PeerId(bytes);
  return Error(Errc::invalid_argument,
               "invalid peer id: expected 40 lower-case hex digits, got " + quote(hex));
}

PeerId PeerId::from_address(std::string_view ip, std::uint16_t port) {
  std::string address(ip);
  address += ':';
  address += std::to_string(port);
  return PeerId(sha1_of(address));
}

PeerId PeerId::random(Random& random) {
  std::array<std::uint8_t, kBytes> bytes;
  random.fill(bytes);
  return PeerId(bytes);
}

std::string PeerId::hex() const { return to_hex(bytes_); }

}  // namespace orlop
