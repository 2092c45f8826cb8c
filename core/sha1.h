#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace orlop {

/// SHA-1, for the two names that Kraken forms with it: infohash and peer id. Neither protects
/// anything; blobs are named by SHA-256 (Digest).
std::array<std::uint8_t, 20> sha1_of(std::string_view bytes);

}  // namespace orlop
