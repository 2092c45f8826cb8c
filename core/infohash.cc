#include "core/infohash.h"

#include "base/hex.h"
#include "core/quote.h"

namespace orlop {

Result<InfoHash> InfoHash::parse(std::string_view hex) {
  std::array<std::uint8_t, kBytes> bytes;
  if (from_hex(hex, bytes)) return InfoHash(bytes);
  return Error(Errc::invalid_argument,
               "invalid infohash: expected 40 lower-case hex digits, got " + quote(hex));
}

std::string InfoHash::hex() const { return to_hex(bytes_); }

}  // namespace orlop
