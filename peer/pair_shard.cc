#include "peer/pair_shard.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace orlop {
namespace {

/// The mixing step of splitmix64 (S. Vigna).
std::uint64_t mixed(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

/// Of all 20 bytes: they are chosen by strangers, also those that agree in most.
template <class Bytes>
std::uint64_t hash_of(const Bytes& bytes, std::uint64_t secret) {
  std::uint64_t words[3] = {};
  static_assert(sizeof bytes <= sizeof words);
  std::memcpy(words, bytes.data(), sizeof bytes);
  return mixed(mixed(mixed(words[0] ^ secret) + words[1]) + words[2]);
}

}  // namespace

std::size_t InfoHashHasher::operator()(const InfoHash& infohash) const noexcept {
  return hash_of(infohash.bytes(), secret);
}

void PairShard::set_secret(std::uint64_t secret) {
  const std::lock_guard lock(mutex_);
  secret_ = secret;
  torrents_ = Torrents(0, InfoHashHasher{secret});
}

std::size_t PairShard::slot_of(const void* torrent, const PeerId& peer) const {
  const auto place = reinterpret_cast<std::uintptr_t>(torrent);
  return hash_of(peer.bytes(), secret_ ^ mixed(place)) & (table_.size() - 1);
}

PairShard::Index PairShard::find(const Torrents::value_type& torrent, const PeerId& peer) const {
  if (table_.empty()) return kNone;
  const auto mask = table_.size() - 1;
  for (auto slot = slot_of(&torrent, peer); table_[slot] != kNone; slot = (slot + 1) & mask) {
    const auto& pair = pairs_[table_[slot]];
    if (pair.torrent == &torrent && pair.peer == peer) return table_[slot];
  }
  return kNone;
}

void PairShard::enter(Index pair) {
  if (3 * (in_table_ + 1) > 2 * table_.size()) grow_table();
  const auto mask = table_.size() - 1;
  auto slot = slot_of(pairs_[pair].torrent, pairs_[pair].peer);
  while (table_[slot] != kNone) slot = (slot + 1) & mask;
  table_[slot] = pair;
  ++in_table_;
}

void PairShard::grow_table() {
  const auto before = std::move(table_);
  table_.assign(std::max<std::size_t>(16, 2 * before.size()), kNone);
  in_table_ = 0;
  for (const auto pair : before) {
    if (pair != kNone) enter(pair);
  }
}

void PairShard::leave_table(Index pair) {
  const auto mask = table_.size() - 1;
  auto hole = slot_of(pairs_[pair].torrent, pairs_[pair].peer);
  while (table_[hole] != pair) hole = (hole + 1) & mask;
  table_[hole] = kNone;
  --in_table_;
  // Who was put behind the hole because it was taken moves up, so that no search ends too early.
  for (auto slot = (hole + 1) & mask; table_[slot] != kNone; slot = (slot + 1) & mask) {
    const auto& other = pairs_[table_[slot]];
    const auto home = slot_of(other.torrent, other.peer);
    if (((slot - home) & mask) < ((slot - hole) & mask)) continue;
    table_[hole] = std::exchange(table_[slot], kNone);
    hole = slot;
  }
}

void PairShard::link_newest(Index pair) {
  pairs_[pair].older = newest_;
  pairs_[pair].newer = kNone;
  (newest_ == kNone ? oldest_ : pairs_[newest_].newer) = pair;
  newest_ = pair;
}

void PairShard::unlink(Index index) {
  const auto& pair = pairs_[index];
  (pair.older == kNone ? oldest_ : pairs_[pair.older].newer) = pair.newer;
  (pair.newer == kNone ? newest_ : pairs_[pair.newer].older) = pair.older;
}

void PairShard::remove(Index index, Quota& quota) {
  leave_table(index);
  unlink(index);
  auto& pair = pairs_[index];
  auto& list = pair.torrent->second.pairs;
  // The order of the list means nothing: its last one takes the place.
  list[pair.position] = list.back();
  pairs_[list.back()].position = pair.position;
  list.pop_back();
  if (list.empty()) {
    const InfoHash infohash = pair.torrent->first;  // Of its own: the name goes with the entry.
    torrents_.erase(infohash);
  }
  --pair.card->pairs;
  pair = Pair();
  free_.push_back(index);
  quota.give_back();
  ++revision_;
}

Result<> PairShard::put(InfoHash infohash, const PeerCardPtr& card, bool complete, PeerSeconds now,
                        Quota& quota, std::size_t pairs_of_peer_max) {
  const std::lock_guard lock(mutex_);
  auto torrent = torrents_.find(infohash);
  const auto known = torrent == torrents_.end() ? kNone : find(*torrent, card->id);
  if (known != kNone) {
    auto& pair = pairs_[known];
    if (pair.card != card) {
      --pair.card->pairs;
      ++card->pairs;
      pair.card = card;
    }
    pair.seen = now / 2 & 0x7fffffff;
    if ((pair.complete != 0) != complete) {
      pair.complete = complete;
      ++revision_;
    }
    unlink(known);
    link_newest(known);
    return {};
  }
  if (card->pairs >= pairs_of_peer_max) return Error(Errc::busy, "too many blobs of this peer");
  if (!quota.take()) return Error(Errc::busy, "too many blobs of all peers");
  if (torrent == torrents_.end()) torrent = torrents_.try_emplace(infohash).first;
  if (free_.empty()) {
    free_.push_back(static_cast<Index>(pairs_.size()));
    pairs_.emplace_back();
  }
  const auto index = free_.back();
  free_.pop_back();
  auto& list = torrent->second.pairs;
  auto& pair = pairs_[index];
  pair.peer = card->id;
  pair.seen = now / 2 & 0x7fffffff;
  pair.complete = complete;
  pair.card = card;
  pair.torrent = &*torrent;
  pair.position = static_cast<Index>(list.size());
  list.push_back(index);
  ++card->pairs;
  link_newest(index);
  enter(index);
  ++revision_;
  return {};
}

void PairShard::choose(InfoHash infohash, std::size_t count_max, std::uint64_t chance, Quota& quota,
                       std::vector<HandedOutPeer>& out) {
  const std::lock_guard lock(mutex_);
  auto torrent = torrents_.find(infohash);
  if (torrent == torrents_.end()) return;
  auto& list = torrent->second.pairs;
  // The first steps of a shuffle of the list itself, whose order means nothing.
  for (std::size_t chosen = 0; chosen < count_max && chosen < list.size();) {
    chance = mixed(chance + 0x9e3779b97f4a7c15);
    const auto other = chosen + chance % (list.size() - chosen);
    std::swap(list[chosen], list[other]);
    pairs_[list[chosen]].position = static_cast<Index>(chosen);
    pairs_[list[other]].position = static_cast<Index>(other);
    const auto& pair = pairs_[list[chosen]];
    if (pair.card->gone) {
      const bool last = list.size() == 1;
      remove(list[chosen], quota);
      if (last) return;  // The list went with it.
      continue;
    }
    out.push_back({.card = pair.card, .complete = pair.complete != 0});
    ++chosen;
  }
}

std::size_t PairShard::expire(PeerSeconds unseen_since, std::size_t count_max, Quota& quota) {
  const std::lock_guard lock(mutex_);
  std::size_t count = 0;
  while (count < count_max && oldest_ != kNone && pairs_[oldest_].seen <= unseen_since / 2) {
    remove(oldest_, quota);
    ++count;
  }
  return count;
}

std::uint64_t PairShard::copy(std::vector<Fact>& out) const {
  const std::lock_guard lock(mutex_);
  for (const auto& pair : pairs_) {
    if (pair.torrent == nullptr) continue;
    out.push_back({pair.torrent->first, pair.peer, pair.complete != 0});
  }
  return revision_;
}

std::size_t PairShard::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  constexpr std::size_t kTorrentBytes = sizeof(Torrents::value_type) + 4 * sizeof(void*);
  auto bytes = pairs_.capacity() * sizeof(Pair) +
               (free_.capacity() + table_.capacity()) * sizeof(Index) +
               torrents_.bucket_count() * sizeof(void*) + torrents_.size() * kTorrentBytes;
  for (const auto& [infohash, torrent] : torrents_) {
    bytes += torrent.pairs.capacity() * sizeof(Index);
  }
  return bytes;
}

}  // namespace orlop
