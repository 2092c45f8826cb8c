#include "peer/node_table.h"

#include <algorithm>
#include <utility>

namespace orlop {
namespace {

std::string address_of(const std::string& ip, std::uint16_t port) {
  return ip + ':' + std::to_string(port);
}

bool same_facts(const NodeSighting& a, const NodeSighting& b) {
  return a.origin == b.origin && a.zone == b.zone && a.cluster == b.cluster &&
         a.version == b.version && a.tags == b.tags;
}

}  // namespace

NodeTable::NodeTable(NodeTableOptions options) : options_(options), quota_(options.nodes_max) {}

NodeTable::Leaf& NodeTable::leaf_of(PeerId id) const {
  static_assert(kLeaves == 1024, "ten bits");
  const auto& bytes = id.bytes();
  return leaves_[static_cast<std::size_t>(bytes[0] << 2 | bytes[1] >> 6)];
}

std::vector<NodeTable::Entry>::iterator NodeTable::Leaf::lower_bound(PeerId id) {
  return std::lower_bound(
      entries.begin(), entries.end(), id,
      [](const Entry& entry, const PeerId& wanted) { return entry.node.seen.id < wanted; });
}

Result<PeerCardPtr> NodeTable::touch(const NodeSighting& sighting, PeerSeconds now) {
  return put({.seen = sighting, .first_seen = now, .last_seen = now}, false);
}

Result<> NodeTable::restore(const PeerNode& node, PeerSeconds now) {
  auto restored = node;
  restored.last_seen = std::min(node.last_seen, now);
  restored.first_seen = std::min(node.first_seen, restored.last_seen);
  if (std::uint64_t{restored.last_seen} + options_.ttl <= now) return {};
  auto put_back = put(restored, true);
  if (!put_back) return std::move(put_back).error();
  return {};
}

Result<PeerCardPtr> NodeTable::put(const PeerNode& node, bool restoring) {
  if (auto valid = check(node.seen); !valid) return std::move(valid).error();
  auto& leaf = leaf_of(node.seen.id);
  std::optional<PeerId> evicted;
  PeerCardPtr card;
  {
    const std::lock_guard lock(leaf.mutex);
    const auto at = leaf.lower_bound(node.seen.id);
    if (at != leaf.entries.end() && at->node.seen.id == node.seen.id) {
      if (restoring) return at->card;  // Announced since: that is the newer news.
      const bool moved = at->node.seen.ip != node.seen.ip || at->node.seen.port != node.seen.port;
      renew(leaf, *at, node);
      if (moved) evicted = claim(node.seen);
      card = at->card;
    } else {
      auto added = add(leaf, at, node);
      if (!added) return added;
      evicted = claim(node.seen);
      card = *std::move(added);
    }
  }
  if (evicted) remove(*evicted, std::nullopt);
  return card;
}

Result<PeerCardPtr> NodeTable::add(Leaf& leaf, std::vector<Entry>::iterator at,
                                   const PeerNode& node) {
  if (leaf.entries.size() >= kLeafNodesMax) return Error(Errc::busy, "too many peers of like ids");
  if (!quota_.take()) return Error(Errc::busy, "too many peers");
  auto card =
      std::make_shared<PeerCard>(node.seen.id, node.seen.ip, node.seen.port, node.seen.origin);
  Sights::iterator sight;
  {
    const std::lock_guard lock(sights_mutex_);
    sight = sights_.insert(sights_.end(), Sight{node.seen.id, node.last_seen});
  }
  leaf.entries.insert(at, Entry{.node = node, .card = card, .sight = sight});
  ++leaf.revision;
  return card;
}

void NodeTable::renew(Leaf& leaf, Entry& entry, const PeerNode& node) {
  auto& known = entry.node;
  const bool moved = known.seen.ip != node.seen.ip || known.seen.port != node.seen.port;
  if (moved || known.seen.origin != node.seen.origin) {
    if (moved) release(known.seen);
    entry.card->gone = true;
    entry.card =
        std::make_shared<PeerCard>(node.seen.id, node.seen.ip, node.seen.port, node.seen.origin);
  }
  const bool later =
      node.last_seen >= std::uint64_t{known.last_seen} + std::max(options_.seen_grain, 1U);
  if (!moved && !later && same_facts(known.seen, node.seen)) return;
  known.seen = node.seen;
  // Threads come here in another order than they looked at the clock.
  if (later) {
    known.last_seen = node.last_seen;
    const std::lock_guard lock(sights_mutex_);
    entry.sight->last_seen = node.last_seen;
    sights_.splice(sights_.end(), sights_, entry.sight);
  }
  ++leaf.revision;
}

void NodeTable::remove(PeerId id, std::optional<PeerSeconds> unseen_since) {
  auto& leaf = leaf_of(id);
  const std::lock_guard lock(leaf.mutex);
  const auto at = leaf.lower_bound(id);
  if (at == leaf.entries.end() || at->node.seen.id != id) return;
  if (unseen_since && at->node.last_seen > *unseen_since) return;
  release(at->node.seen);
  at->card->gone = true;
  {
    const std::lock_guard sights_lock(sights_mutex_);
    sights_.erase(at->sight);
  }
  leaf.entries.erase(at);
  ++leaf.revision;
  quota_.give_back();
}

std::optional<PeerId> NodeTable::claim(const NodeSighting& sighting) {
  const std::lock_guard lock(addresses_mutex_);
  const auto [at, added] =
      addresses_.try_emplace(address_of(sighting.ip, sighting.port), sighting.id);
  if (added) return std::nullopt;
  const auto before = std::exchange(at->second, sighting.id);
  if (before == sighting.id) return std::nullopt;
  return before;
}

void NodeTable::release(const NodeSighting& sighting) {
  const std::lock_guard lock(addresses_mutex_);
  const auto at = addresses_.find(address_of(sighting.ip, sighting.port));
  if (at != addresses_.end() && at->second == sighting.id) addresses_.erase(at);
}

PeerCardPtr NodeTable::card(PeerId id) const {
  auto& leaf = leaf_of(id);
  const std::lock_guard lock(leaf.mutex);
  const auto at = leaf.lower_bound(id);
  if (at == leaf.entries.end() || at->node.seen.id != id) return nullptr;
  return at->card;
}

std::optional<PeerNode> NodeTable::find(PeerId id) const {
  auto& leaf = leaf_of(id);
  const std::lock_guard lock(leaf.mutex);
  const auto at = leaf.lower_bound(id);
  if (at == leaf.entries.end() || at->node.seen.id != id) return std::nullopt;
  return at->node;
}

std::optional<PeerId> NodeTable::find_address(const std::string& ip, std::uint16_t port) const {
  const std::lock_guard lock(addresses_mutex_);
  const auto at = addresses_.find(address_of(ip, port));
  if (at == addresses_.end()) return std::nullopt;
  return at->second;
}

std::size_t NodeTable::expire(PeerSeconds now) {
  // A node that is seen all the time has a `last_seen` that is this much too old.
  const auto kept = std::uint64_t{options_.ttl} + options_.seen_grain;
  if (now < kept) return 0;
  const auto unseen_since = static_cast<PeerSeconds>(now - kept);
  std::size_t count = 0;
  while (true) {
    std::optional<Sight> oldest;
    {
      const std::lock_guard lock(sights_mutex_);
      if (!sights_.empty()) oldest = sights_.front();
    }
    if (!oldest || oldest->last_seen > unseen_since) return count;
    remove(oldest->id, unseen_since);
    ++count;
  }
}

std::uint64_t NodeTable::revision(std::size_t section) const { return leaves_[section].revision; }

std::uint64_t NodeTable::encode(std::size_t section, TextBuffer& out) {
  auto& leaf = leaves_[section];
  const std::lock_guard lock(leaf.mutex);
  std::string_view glue;
  for (const auto& entry : leaf.entries) {
    out.append(glue);
    append_json(out, entry.node);
    glue = ",";
  }
  return leaf.revision;
}

}  // namespace orlop
