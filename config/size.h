#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orlop {

/// Reads a size in bytes as Kraken's `size` keys are written (kraken-formats-and-store, 6.3):
/// decimal digits, then blanks if any, then a unit if any. Units, in any case: b byte; k kb kilo
/// kilobyte kilobytes, and the same five shapes of mega, giga, tera, peta; e eb. All are powers of
/// 1024. Nothing for fractions, signs, underscores, a leading blank, "mib", more than 64 bits, and
/// for exactly "Kb", "Mb", … "Eb", which mean bits.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// The size in the largest unit that needs no fraction, as parse_size() reads it: "4MB", "1500".
std::string size_text(std::uint64_t bytes);

}  // namespace orlop
