#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "peer/pair_shard.h"
#include "peer/peer_node.h"
#include "peer/registry.h"
#include "peer/snapshot_check.h"

namespace orlop {

/// What a snapshot of a registry says, every element looked at.
struct RegistryFacts {
  std::vector<PeerNode> nodes;
  std::vector<PairShard::Fact> pairs;
};

/// How many bytes `parse_registry` needs behind a snapshot, with any value.
std::size_t snapshot_padding_bytes();

/// Checks a snapshot and reads it. `bytes` has the padding at its end, is written to meanwhile, and
/// is the same afterwards. `corrupt` if anything is not as it has to be: then there are no facts.
Result<RegistryFacts> parse_registry(std::string& bytes);

/// Puts the facts into a registry, whatever else it knows. Facts beyond its bounds are left out;
/// says how many.
std::size_t restore(PeerRegistry& registry, RegistryFacts facts);

}  // namespace orlop
