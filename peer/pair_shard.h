#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/infohash.h"
#include "peer/peer_card.h"
#include "peer/peer_node.h"
#include "peer/quota.h"

namespace orlop {

/// A peer that is named to another one.
struct HandedOutPeer {
  PeerCardPtr card;
  bool complete = false;
};

/// Hashes of strangers' names, with a secret, so that nobody can choose names that fall together.
struct InfoHashHasher {
  std::uint64_t secret = 0;
  std::size_t operator()(const InfoHash& infohash) const noexcept;
};

/// Who has which infohash, for a part of all infohashes.
///
/// A pair of infohash and peer is one record, found through a table by both, in the list of its
/// infohash, and in a chain by age: each step of an announce and of expiry costs the same however
/// many pairs there are. 64 bytes a pair, and 10 to 20 in table and list. Safe from any thread.
class PairShard {
 public:
  PairShard() = default;
  PairShard(const PairShard&) = delete;
  PairShard& operator=(const PairShard&) = delete;
  ~PairShard() = default;

  /// Before anything else.
  void set_secret(std::uint64_t secret);

  /// Adds or renews a pair. `busy` if it is new and there are too many of all, or of this peer.
  Result<> put(InfoHash infohash, const PeerCardPtr& card, bool complete, PeerSeconds now,
               Quota& quota, std::size_t pairs_of_peer_max);
  /// Appends up to `count_max` peers of an infohash, chosen by chance. Pairs whose peer is gone are
  /// dropped in passing.
  void choose(InfoHash infohash, std::size_t count_max, std::uint64_t chance, Quota& quota,
              std::vector<HandedOutPeer>& out);
  /// Drops up to `count_max` pairs that were not renewed since; says how many.
  std::size_t expire(PeerSeconds unseen_since, std::size_t count_max, Quota& quota);

  /// A pair as a snapshot has it.
  struct Fact {
    InfoHash infohash;
    PeerId peer;
    bool complete;
  };
  /// Changes with each real change: a pair comes, goes, or is complete now. Not with a renewal.
  std::uint64_t revision() const { return revision_; }
  /// Appends all pairs, in no order; says of which revision. Copies, so that the lock is short.
  std::uint64_t copy(std::vector<Fact>& out) const;
  std::size_t memory_bytes() const;

 private:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};
  struct Torrent {
    std::vector<Index> pairs;
  };
  using Torrents = std::unordered_map<InfoHash, Torrent, InfoHashHasher>;

  struct Pair {
    PeerId peer{{}};
    PeerSeconds seen : 31 = 0;  ///< Seconds / 2.
    PeerSeconds complete : 1 = 0;
    PeerCardPtr card;
    Torrents::value_type* torrent = nullptr;
    Index position = 0;  ///< In the torrent's list.
    Index older = kNone;
    Index newer = kNone;
  };
  static_assert(sizeof(Pair) <= 64);

  std::size_t slot_of(const void* torrent, const PeerId& peer) const;
  Index find(const Torrents::value_type& torrent, const PeerId& peer) const;
  void enter(Index pair);
  void leave_table(Index pair);
  void grow_table();
  void link_newest(Index pair);
  void unlink(Index pair);
  void remove(Index pair, Quota& quota);

  mutable std::mutex mutex_;
  std::uint64_t secret_ = 0;
  Torrents torrents_;
  std::vector<Pair> pairs_;
  std::vector<Index> free_;
  std::vector<Index> table_;  ///< A power of two of slots; linear probing; at most 2/3 full.
  std::size_t in_table_ = 0;
  Index oldest_ = kNone;
  Index newest_ = kNone;
  std::atomic<std::uint64_t> revision_ = 1;
};

}  // namespace orlop
