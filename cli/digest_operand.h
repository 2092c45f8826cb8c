#pragma once

#include <string_view>

#include "core/digest.h"

namespace orlop {

/// A digest as people have it: "sha256:" and 64 digits, or the digits alone.
Result<Digest> parse_digest_operand(std::string_view text);

}  // namespace orlop
