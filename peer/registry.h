#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <vector>

#include "base/clock.h"
#include "peer/node_table.h"
#include "peer/pair_table.h"

namespace orlop {

struct RegistryOptions {
  std::size_t nodes_max = 100'000;         ///< About 500 bytes each.
  std::size_t pairs_max = 2'000'000;       ///< About 100 bytes each.
  std::size_t pairs_of_peer_max = 20'000;  ///< So that one peer cannot take all of them.
  PeerSeconds ttl = 5 * 60 * 60;
  PeerSeconds seen_grain = 60;
  std::size_t handout_max = 50;  ///< Kraken's `trackerserver.announce_limit`.
};

/// What a tracker knows: the peers, and which of them has, or gets, which blob. Only in memory; its
/// snapshots are peer/registry_snapshot.h. Safe from any thread.
///
/// Its time is the wall clock's at the start plus the steady clock since, so that a step of the
/// wall clock forgets nobody.
class PeerRegistry {
 public:
  PeerRegistry(RegistryOptions options, const Clock& clock, Random& random);

  struct Announced {
    std::vector<HandedOutPeer> peers;  ///< Never gone ones. The peer itself may be among them.
    Result<> recorded;  ///< `busy`: there was no room, but it gets peers all the same.
  };
  /// A peer has a blob, or gets it and wants to know from whom: only then there are peers in the
  /// answer. `invalid_argument` as `check`, and nothing is recorded then.
  Result<Announced> announce(InfoHash infohash, const NodeSighting& sighting, bool complete);

  /// Forgets who and what was not announced for the TTL.
  struct Expired {
    std::size_t nodes = 0;
    std::size_t pairs = 0;
  };
  Expired expire();

  /// From a snapshot. A pair whose peer is not known is left out; `busy` beyond the bounds.
  Result<> restore(const PeerNode& node) { return nodes_.restore(node, now()); }
  Result<> restore(InfoHash infohash, PeerId peer, bool complete);

  NodeTable& nodes() { return nodes_; }
  PairTable& pairs() { return pairs_; }
  /// In the order in which a snapshot has them.
  std::array<SnapshotCollection*, 2> collections() { return {&nodes_, &pairs_}; }
  PeerSeconds now() const;

 private:
  const RegistryOptions options_;
  const Clock& clock_;
  const Clock::Wall wall_start_;
  const Clock::Steady steady_start_;
  NodeTable nodes_;
  PairTable pairs_;
};

}  // namespace orlop
