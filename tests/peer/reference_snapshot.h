#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "peer/registry.h"

namespace orlop {

/// A node as docs/formats.md says it, by plain appends. Shares no code with peer/ but the strings'.
std::string reference_json(const PeerNode& node);

/// A snapshot of collections whose sections have these elements, each JSON.
struct ReferenceCollection {
  std::string name;
  std::vector<std::vector<std::string>> sections;
};
std::string reference_snapshot(const std::vector<ReferenceCollection>& collections,
                               std::uint64_t saved_at);

/// A sighting with an id of its own and an address made of the number.
NodeSighting peer_number(std::uint32_t number);
InfoHash infohash_number(std::uint32_t number);

}  // namespace orlop
