#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace orlop {

inline constexpr std::size_t kQuoteBytesMax = 128;

/// Text from a stranger, fit for an error detail or a log line: in double quotes, as Go's %q prints
/// it, so that our texts equal Kraken's. Differs from %q in two ways: bytes above ASCII are always
/// \xNN, and only the first `kQuoteBytesMax` bytes are shown, followed by "..." if there are more.
std::string quote(std::string_view untrusted);

}  // namespace orlop
