#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.h"
#include "peer/pair_shard.h"
#include "peer/snapshot_collection.h"

namespace orlop {

struct PairTableOptions {
  std::size_t pairs_max = 2'000'000;       ///< About 100 bytes each.
  std::size_t pairs_of_peer_max = 20'000;  ///< So that one peer cannot take all of them.
  PeerSeconds ttl = 5 * 60 * 60;           ///< Kraken's `peerstore.local.ttl`.
};

/// Who has which infohash: 256 shards by infohash, each a section of the snapshot, where a pair is
/// the text "<infohash>:<peer id>:<1 if complete, else 0>". Safe from any thread, except `encode`:
/// one thread at a time.
class PairTable final : public SnapshotCollection {
 public:
  static constexpr std::size_t kShards = 256;

  PairTable(PairTableOptions options, Random& random);

  /// As PairShard::put.
  Result<> put(InfoHash infohash, const PeerCardPtr& card, bool complete, PeerSeconds now);
  /// As PairShard::choose.
  void choose(InfoHash infohash, std::size_t count_max, std::vector<HandedOutPeer>& out);
  /// Drops what was not renewed for `ttl`, shard by shard and in small steps; says how many.
  std::size_t expire(PeerSeconds now);
  std::size_t size() const { return quota_.taken(); }
  std::size_t memory_bytes() const;

  std::string_view name() const override { return "pairs"; }
  std::size_t section_count() const override { return kShards; }
  std::uint64_t revision(std::size_t section) const override;
  std::uint64_t encode(std::size_t section, TextBuffer& out) override;

 private:
  PairShard& shard_of(const InfoHash& infohash);

  const PairTableOptions options_;
  Random& random_;
  const InfoHashHasher hasher_;
  Quota quota_;
  std::array<PairShard, kShards> shards_;
  std::vector<PairShard::Fact> copied_;  ///< Of `encode`, kept for its memory.
};

}  // namespace orlop
