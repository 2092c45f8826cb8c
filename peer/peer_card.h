#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "core/peer_id.h"

namespace orlop {

/// How a peer is found by others, once for all the blobs that it has: what a handout is made of.
/// Its address never changes; a peer that moves gets another card. Safe from any thread.
struct PeerCard {
  PeerCard(PeerId peer_id, std::string address_ip, std::uint16_t address_port, bool is_origin)
      : id(peer_id), ip(std::move(address_ip)), port(address_port), origin(is_origin) {}

  const PeerId id;
  const std::string ip;
  const std::uint16_t port;
  const bool origin;
  /// The peer moved, or is gone: nobody is sent there any more.
  std::atomic<bool> gone = false;
  /// How many pairs have this card.
  std::atomic<std::uint32_t> pairs = 0;
};

using PeerCardPtr = std::shared_ptr<PeerCard>;

}  // namespace orlop
