#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace orlop {

/// Reads a duration as Go's time.ParseDuration does, which Kraken's files are written for: an
/// optional sign, then one or more of number and unit without blanks ("1h30m", "0.5s", ".5ms").
/// Units: ns us µs ms s m h; there is no day. "0" needs no unit. Digits beyond a nanosecond are
/// dropped. Nothing for any other text, and for what does not fit in 64 bits of nanoseconds.
///
/// Go 1.x, time/format.go, ParseDuration.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// The shortest text of one or more whole units that parse_duration() reads as `duration`, which is
/// not negative: "1h30m", "250ms", "0s".
std::string duration_text(std::chrono::nanoseconds duration);

}  // namespace orlop
