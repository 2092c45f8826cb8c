#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace orlop {

/// CRC-32 as in zlib, PNG and Ethernet (CRC-32/ISO-HDLC: reflected polynomial 0xEDB88320), which
/// is a piece sum in Kraken (core/piece_hash.go). The check value of "123456789" is 0xCBF43926.
///
/// Continues from `previous`, the result for the bytes before these; 0 to start.
/// Leaves the upper halves of the vector registers clean: ISA-L does not, and OpenSSL's SHA-256
/// then runs 15-20 % slower until somebody clears them.
std::uint32_t crc32(std::uint32_t previous, std::span<const std::byte> bytes);

/// The CRC-32 of A followed by B, from `first` = crc32 of A and `second` = crc32 of B, which has
/// `second_bytes` bytes. Some 100 ns for each one bit in `second_bytes`: a power of two is
/// cheapest.
std::uint32_t crc32_combine(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

}  // namespace orlop
