#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/digest.h"

namespace orlop {

/// The info dictionary of a blob, bencoded (BEP 3) as Kraken's core/metainfo.go does:
///
///     d 6:Length i<size>e  4:Name 64:<hex>  11:PieceLength i<length>e  9:PieceSums l i<sum>e … e e
///
/// without the blanks. No sums are an empty list, "le". Its SHA-1 is the infohash.
std::string bencode_info(Digest digest, std::uint64_t size_bytes, std::uint64_t piece_length,
                         std::span<const std::uint32_t> piece_sums);

}  // namespace orlop
