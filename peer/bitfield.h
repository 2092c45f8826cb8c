#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orlop {

// Sets of pieces, as the library willf/bitset writes them: the number of bits, 64 bits wide, then
// words of 64 bits, the first one first; all big-endian. Bit i has the value 2^(i mod 64) in its
// word.

/// A set of so many pieces, all of them in it.
std::string full_bitfield(std::uint64_t pieces);

/// Whether the bytes hold as many words as their header says. Surplus bytes are no mistake.
bool is_bitfield(std::string_view bytes);

}  // namespace orlop
