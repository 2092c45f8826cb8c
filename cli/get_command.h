#pragma once

#include <span>

namespace orlop {

/// `orlop get DIGEST`: receives a blob into a file or to standard output, and only if its bytes are
/// right. Exit status 0, 1 if it did not come whole, 2 if it was called wrongly.
int get_command(std::span<const char* const> args);

}  // namespace orlop
