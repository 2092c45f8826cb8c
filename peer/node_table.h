#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "peer/peer_card.h"
#include "peer/peer_node.h"
#include "peer/quota.h"
#include "peer/snapshot_collection.h"

namespace orlop {

struct NodeTableOptions {
  std::size_t nodes_max = 100'000;
  PeerSeconds ttl = 5 * 60 * 60;  ///< Kraken's `peerstore.local.ttl`.
  /// How far behind a node's `last_seen` may be. It is part of the snapshot, and agents announce
  /// every three seconds: without this every save would encode every node.
  PeerSeconds seen_grain = 60;
};

/// The peers that are known, in order of their ids, and by their addresses.
///
/// Ids are hashes, so their first bits cut them into leaves of about equal size, each a sorted
/// array with a lock of its own: a save encodes memory in its order (measured-choices.md, part C)
/// and stops announces for one leaf at most. Ids that somebody chose so that they fall into one
/// leaf fill that leaf and nothing else. Safe from any thread; blocks for a leaf's lock.
class NodeTable final : public SnapshotCollection {
 public:
  static constexpr std::size_t kLeaves = 1024;
  static constexpr std::size_t kLeafNodesMax = 4096;

  explicit NodeTable(NodeTableOptions options);

  /// A peer was seen; gives its card. Another peer at the same address is gone by this: two cannot
  /// have one, and a peer with a random id gets a new one when it restarts. `invalid_argument` as
  /// `check`; `busy` if there is no room for one more.
  Result<PeerCardPtr> touch(const NodeSighting& sighting, PeerSeconds now);
  /// As `touch`, with the times of an earlier life; those after `now` count as `now`. Nothing for a
  /// node whose time is over. Pre: nodes come in the order of their `last_seen`.
  Result<> restore(const PeerNode& node, PeerSeconds now);

  PeerCardPtr card(PeerId id) const;  ///< Null if the peer is not known.
  std::optional<PeerNode> find(PeerId id) const;
  std::optional<PeerId> find_address(const std::string& ip, std::uint16_t port) const;
  std::size_t size() const { return quota_.taken(); }

  /// Forgets who was not seen for `ttl` (and up to `seen_grain` longer); says how many. Takes time
  /// in proportion to these.
  std::size_t expire(PeerSeconds now);

  std::string_view name() const override { return "nodes"; }
  std::size_t section_count() const override { return kLeaves; }
  std::uint64_t revision(std::size_t section) const override;
  std::uint64_t encode(std::size_t section, TextBuffer& out) override;

 private:
  struct Sight {
    PeerId id;
    PeerSeconds last_seen;
  };
  using Sights = std::list<Sight>;  ///< Of all nodes, the longest unseen first.

  struct Entry {
    PeerNode node;
    PeerCardPtr card;
    Sights::iterator sight;
  };
  struct Leaf {
    mutable std::mutex mutex;
    std::vector<Entry> entries;
    std::atomic<std::uint64_t> revision = 1;

    std::vector<Entry>::iterator lower_bound(PeerId id);
  };

  Result<PeerCardPtr> put(const PeerNode& node, bool restoring);
  Result<PeerCardPtr> add(Leaf& leaf, std::vector<Entry>::iterator at, const PeerNode& node);
  /// Under the leaf's lock: what is new in a sighting of a node that is known.
  void renew(Leaf& leaf, Entry& entry, const PeerNode& node);
  void remove(PeerId id, std::optional<PeerSeconds> unseen_since);
  /// The address is this peer's now; says whose it was.
  std::optional<PeerId> claim(const NodeSighting& sighting);
  void release(const NodeSighting& sighting);
  Leaf& leaf_of(PeerId id) const;

  const NodeTableOptions options_;
  Quota quota_;
  mutable std::array<Leaf, kLeaves> leaves_;
  // Locked inside a leaf's lock, never around one.
  mutable std::mutex sights_mutex_;
  Sights sights_;
  mutable std::mutex addresses_mutex_;
  std::unordered_map<std::string, PeerId> addresses_;
};

}  // namespace orlop
