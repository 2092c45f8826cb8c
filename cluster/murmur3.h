#pragma once

#include <cstdint>
#include <string_view>

namespace orlop {

/// The first 64 bits of MurmurHash3 x64 128 with seed 0 (Austin Appleby, public domain:
/// github.com/aappleby/smhasher, MurmurHash3.cpp). It spreads keys over a ring; it is no defence
/// against anybody who chooses them.
std::uint64_t murmur3_h1(std::string_view bytes);

}  // namespace orlop
