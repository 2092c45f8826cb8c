#pragma once

#include "base/error.h"

namespace orlop {

/// The exit codes of all commands.
inline constexpr int kExitDone = 0;
inline constexpr int kExitFailed = 1;
inline constexpr int kExitUsage = 2;  ///< The operator has to change something first.

/// Prints "orlop: …" to standard error and gives `code` back.
int fail(const Error& error, int code);

}  // namespace orlop
