#pragma once

#include "base/error.h"

namespace orlop {

/// The HTTP status that a kind of failure is answered with.
unsigned to_status(Errc code);

}  // namespace orlop
