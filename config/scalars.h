#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

#include "config/node.h"

namespace orlop {

// What a scalar says, read as yaml.v2 2.3.0 reads it for Kraken (kraken-formats-and-store, 6.2 and
// 6.3). Each gives nothing if the node is no scalar or says something else. Text in quotes is never
// a boolean or a number.

/// YAML 1.1: y yes true on, n no false off, each in lower case, upper case or capitalized.
std::optional<bool> as_boolean(const Node& node);

/// Decimal, 0x1f, 0b11, 0o17, 017 (octal), with "_" anywhere after the first digit. A fraction or
/// an exponent is fine, and what is behind the point is dropped.
std::optional<std::int64_t> as_integer(const Node& node);

/// As as_integer(), with its fraction.
std::optional<double> as_number(const Node& node);

/// Text as config/duration.h reads it, or a bare integer of nanoseconds.
std::optional<std::chrono::nanoseconds> as_duration(const Node& node);

/// config/size.h, quoted or not.
std::optional<std::uint64_t> as_size(const Node& node);

}  // namespace orlop
