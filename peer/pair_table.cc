#include "peer/pair_table.h"

namespace orlop {

PairTable::PairTable(PairTableOptions options, Random& random)
    : options_(options), random_(random), hasher_{random.next()}, quota_(options.pairs_max) {
  // Another secret inside: or all names of a shard would share the bits that chose it.
  const auto secret = random.next();
  for (auto& shard : shards_) shard.set_secret(secret);
}

PairShard& PairTable::shard_of(const InfoHash& infohash) {
  return shards_[hasher_(infohash) % kShards];
}

Result<> PairTable::put(InfoHash infohash, const PeerCardPtr& card, bool complete,
                        PeerSeconds now) {
  return shard_of(infohash).put(infohash, card, complete, now, quota_, options_.pairs_of_peer_max);
}

void PairTable::choose(InfoHash infohash, std::size_t count_max, std::vector<HandedOutPeer>& out) {
  shard_of(infohash).choose(infohash, count_max, random_.next(), quota_, out);
}

std::size_t PairTable::expire(PeerSeconds now) {
  constexpr std::size_t kStep = 1000;  // An announce waits for one step.
  if (now < options_.ttl) return 0;
  std::size_t count = 0;
  for (auto& shard : shards_) {
    while (true) {
      const auto dropped = shard.expire(now - options_.ttl, kStep, quota_);
      count += dropped;
      if (dropped < kStep) break;
    }
  }
  return count;
}

std::size_t PairTable::memory_bytes() const {
  std::size_t bytes = 0;
  for (const auto& shard : shards_) bytes += shard.memory_bytes();
  return bytes;
}

std::uint64_t PairTable::revision(std::size_t section) const { return shards_[section].revision(); }

std::uint64_t PairTable::encode(std::size_t section, TextBuffer& out) {
  copied_.clear();
  const auto revision = shards_[section].copy(copied_);
  std::string_view glue = "\"";
  for (const auto& pair : copied_) {
    out.append(glue);
    out.append_hex(pair.infohash.bytes());
    out.append(":");
    out.append_hex(pair.peer.bytes());
    out.append(pair.complete ? ":1\"" : ":0\"");
    glue = ",\"";
  }
  return revision;
}

}  // namespace orlop
