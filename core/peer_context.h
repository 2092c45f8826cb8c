#pragma once

#include <cstdint>
#include <string>

#include "core/peer_id.h"

namespace orlop {

/// What this node tells others about itself (Kraken's core/peer_context.go). `ip` may be a host
/// name. Kraken refuses an empty `ip` and port 0; here that is for whoever reads the configuration.
struct PeerContext {
  std::string ip;
  std::uint16_t port;  ///< Of the piece exchange, not of HTTP.
  PeerId peer_id;
  std::string zone;
  std::string cluster;
  bool origin;  ///< Always true of an origin; an agent says false.
};

/// The body of `GET /internal/peercontext`, byte for byte Kraken's except for the newline that
/// follows it there. The peer id is an array of 20 numbers, and `<`, `>` and `&` are escaped:
/// both come from Go's defaults.
std::string to_json(const PeerContext& context);

}  // namespace orlop
