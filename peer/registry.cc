#include "peer/registry.h"

#include <algorithm>
#include <utility>

namespace orlop {

PeerRegistry::PeerRegistry(RegistryOptions options, const Clock& clock, Random& random)
    : options_(options),
      clock_(clock),
      wall_start_(clock.wall()),
      steady_start_(clock.steady()),
      nodes_(
          {.nodes_max = options.nodes_max, .ttl = options.ttl, .seen_grain = options.seen_grain}),
      pairs_({.pairs_max = options.pairs_max,
              .pairs_of_peer_max = options.pairs_of_peer_max,
              .ttl = options.ttl},
             random) {}

PeerSeconds PeerRegistry::now() const {
  using std::chrono::seconds;
  const auto since_1970 = std::chrono::duration_cast<seconds>(wall_start_.time_since_epoch()) +
                          std::chrono::duration_cast<seconds>(clock_.steady() - steady_start_);
  return static_cast<PeerSeconds>(std::max<seconds::rep>(since_1970.count(), 0));
}

Result<PeerRegistry::Announced> PeerRegistry::announce(InfoHash infohash,
                                                       const NodeSighting& sighting,
                                                       bool complete) {
  Announced answer;
  const auto at = now();
  auto card = nodes_.touch(sighting, at);
  if (card) {
    answer.recorded = pairs_.put(infohash, *card, complete, at);
  } else if (card.error().code() == Errc::busy) {
    answer.recorded = std::move(card).error();
  } else {
    return std::move(card).error();
  }
  if (!complete) pairs_.choose(infohash, options_.handout_max, answer.peers);
  return answer;
}

PeerRegistry::Expired PeerRegistry::expire() {
  const auto at = now();
  Expired expired;
  expired.nodes = nodes_.expire(at);
  expired.pairs = pairs_.expire(at);
  return expired;
}

Result<> PeerRegistry::restore(InfoHash infohash, PeerId peer, bool complete) {
  const auto card = nodes_.card(peer);
  if (card == nullptr) return {};
  return pairs_.put(infohash, card, complete, now());
}

}  // namespace orlop
