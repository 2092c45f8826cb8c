#pragma once

#include <span>

namespace orlop {

/// `orlop export-sidecars` (docs/operations.md, "From Kraken and back"). Takes the flags of
/// `serve`, of which it uses those that say where the folders are. Returns the exit code.
int export_sidecars_command(std::span<const char* const> args);

}  // namespace orlop
