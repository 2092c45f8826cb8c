#pragma once

#include <string_view>

namespace orlop {

/// Whether the bytes are UTF-8 (RFC 3629): the shortest forms only, no surrogates, nothing above
/// U+10FFFF.
bool is_utf8(std::string_view bytes);

}  // namespace orlop
