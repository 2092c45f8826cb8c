#pragma once

#include <span>

namespace orlop {

/// `orlop serve [flags]`: makes each part, in the arrows' order, and serves until a signal. They go
/// in the reverse order. The exit code.
int serve_command(std::span<const char* const> args);

}  // namespace orlop
