#pragma once

#include "peer/egress_limit.h"
#include "peer/seed.h"
#include "peer/swarm.h"

namespace orlop {

/// Serves one peer from its handshake to the end of its connection. What it is given by reference
/// outlives it.
Task<> serve_peer(Socket socket, Swarm& swarm, SeedSource& source, EgressLimit& egress);

}  // namespace orlop
