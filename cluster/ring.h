#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "core/digest.h"

namespace orlop {

/// What the ring knows of a digest: its first two bytes. All blobs of one key have the same owners,
/// and there are 65,536 of them.
struct RingKey {
  std::uint16_t value;

  static RingKey of(Digest digest);
  friend auto operator<=>(const RingKey&, const RingKey&) = default;
};

/// Which members own which blobs: Kraken's rendezvous hashing (lib/hrw/rendezvous.go,
/// lib/hashring/ring.go), so that all nodes and all clients of a cluster agree without talking to
/// each other. Each member gets a score for a key, and the highest own it; a member that comes or
/// goes moves only what it owns itself.
///
/// Pure and immutable: a change of the members is a new ring. Safe from any thread.
class Ring {
 public:
  /// A place in `members()`.
  using Member = std::uint16_t;

  static constexpr std::size_t kMembersMax = 1000;

  /// `members`: labels "host:port", in any order; one that is there twice counts once.
  /// `invalid_argument` if there are none or more than kMembersMax, or if `max_replica` is 0.
  static Result<Ring> of(std::vector<std::string> members, std::size_t max_replica);

  /// Sorted.
  const std::vector<std::string>& members() const { return members_; }
  std::size_t max_replica() const { return max_replica_; }
  bool has(std::string_view label) const;

  /// All members for a key, the first owner first.
  std::vector<Member> order(RingKey key) const;

  /// The owners of a key, whoever is healthy: the first `max_replica` of its order.
  std::vector<Member> owners(RingKey key) const;

  /// Where to look for a key's blobs, in this order. `healthy[m]` says whether member m is, and has
  /// as many places as there are members. The healthy ones among the owners; if there are none, the
  /// next healthy member alone, and the first owner if nobody is healthy. Never empty.
  std::vector<Member> locations(RingKey key, const std::vector<bool>& healthy) const;

 private:
  Ring(std::vector<std::string> members, std::size_t max_replica)
      : members_(std::move(members)), max_replica_(max_replica) {}

  std::vector<std::string> members_;
  std::size_t max_replica_;
};

}  // namespace orlop
