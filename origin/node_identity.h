#pragma once

#include <string>

#include "core/peer_context.h"

namespace orlop {

/// Who this node is to others.
struct NodeIdentity {
  std::string ring_label;    ///< "host:port": its name in the hash ring.
  PeerContext peer_context;  ///< How peers reach it.
};

}  // namespace orlop
