#pragma once

#include <chrono>
#include <string_view>

#include "base/result.h"

namespace orlop {

/// Reads the body of a duplicate commit, `{"Delay":<int64 nanoseconds>}`: how long the receiver
/// waits before it writes the blob back, because the sender does so first (kraken 2a7fbcb7,
/// origin/blobclient, client.go). As lenient as the original: names in any case, unknown ones
/// ignored, `null` and `{}` are 0. A negative delay is 0 as well. `invalid_argument` otherwise.
Result<std::chrono::nanoseconds> parse_duplicate_order(std::string_view json);

}  // namespace orlop
