#pragma once

#include <span>

namespace orlop {

/// `orlop check [--json] [--jobs N] [flags of serve]`: looks at the data folder of a daemon that
/// does not run, and changes nothing (docs/operations.md, "Check"). Findings go to standard output
/// as they are made, with a summary or as one JSON object; a progress bar goes to standard error if
/// that is a terminal. 0: clean; 1: findings; 2: it could not run.
int check_command(std::span<const char* const> args);

}  // namespace orlop
