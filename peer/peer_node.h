#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "core/peer_id.h"
#include "peer/text_buffer.h"

namespace orlop {

/// Seconds since 1970: how the registry counts. Good until 2106.
using PeerSeconds = std::uint32_t;

/// What a peer says of itself when it announces. From strangers: see `check`.
struct NodeSighting {
  PeerId id;
  std::string ip;  ///< Or a host name: what others are told to dial.
  std::uint16_t port = 0;
  bool origin = false;
  std::string zone;  ///< This and what follows may be empty.
  std::string cluster;
  std::string version;
  std::vector<std::pair<std::string, std::string>> tags;  ///< In order of their names, bytewise.
};

/// A peer that the registry knows.
struct PeerNode {
  NodeSighting seen;
  PeerSeconds first_seen = 0;
  /// Moved on once in `RegistryOptions::seen_grain`, so that a heartbeat is no change.
  PeerSeconds last_seen = 0;
};

/// The bounds of a sighting: what a stranger can make one node cost.
inline constexpr std::size_t kNodeTextBytesMax = 255;  ///< Of each text, and of each tag's parts.
inline constexpr std::size_t kNodeTagsMax = 16;

/// `invalid_argument` if the address is empty, a text is too long or not UTF-8, or tags are too
/// many, repeated or out of order.
Result<> check(const NodeSighting& sighting);

/// Appends the node as a JSON object: fields in the order of docs/formats.md, empty ones left out.
void append_json(TextBuffer& out, const PeerNode& node);

}  // namespace orlop
