#pragma once

#include <span>

namespace orlop {

/// `orlop health`: is the origin ready to be sent requests? Exit status 0, 1 if it is not or does
/// not say so in time, 2 if it was called wrongly. For health checks of containers and balancers.
int health_command(std::span<const char* const> args);

}  // namespace orlop
