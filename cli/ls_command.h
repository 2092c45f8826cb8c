#pragma once

#include <span>

namespace orlop {

/// `orlop ls`: all blobs of an origin, in the order of their digests. Exit status 0, 1 if the list
/// broke off, 2 if it was called wrongly.
int ls_command(std::span<const char* const> args);

}  // namespace orlop
