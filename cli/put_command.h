#pragma once

#include <span>

namespace orlop {

/// `orlop put FILE…`: sends files to an origin. Exit status 0 if all of them are there then, 1 if
/// one is not, 2 if it was called wrongly.
int put_command(std::span<const char* const> args);

}  // namespace orlop
