#pragma once

#include <span>

namespace orlop {

// What can be asked of an origin in one request for each digest. The first origin that can be
// reached answers. Exit status 0, 1 if one of the answers is no, 2 if it was called wrongly.

/// `orlop stat DIGEST…`: is it here, and how large?
int stat_command(std::span<const char* const> args);
/// `orlop rm DIGEST…`: removes it from each of the origins.
int rm_command(std::span<const char* const> args);
/// `orlop locations DIGEST…`: which origins own it?
int locations_command(std::span<const char* const> args);

}  // namespace orlop
