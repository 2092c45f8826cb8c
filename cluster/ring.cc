#include "cluster/ring.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "cluster/murmur3.h"

namespace orlop {
namespace {

/// What fits a double without rounding.
constexpr std::uint64_t kScoreMask = (std::uint64_t{1} << 53) - 1;

/// A member's score for a key. Kraken makes a logarithm of it and weighs it; all members weigh the
/// same, so the order is this number's.
std::uint64_t score(RingKey key, std::string_view label, std::string& scratch) {
  scratch.clear();
  scratch += static_cast<char>(key.value >> 8);
  scratch += static_cast<char>(key.value & 0xff);
  scratch += label;
  const auto hash = murmur3_h1(scratch);
  if ((hash & kScoreMask) != 0) return hash & kScoreMask;
  // Zero has no logarithm: Kraken hashes once more.
  std::array<char, 8> big_endian;
  for (std::size_t i = 0; i < big_endian.size(); ++i) {
    big_endian[i] = static_cast<char>(hash >> (56 - 8 * i));
  }
  return murmur3_h1({big_endian.data(), big_endian.size()}) & kScoreMask;
}

}  // namespace

RingKey RingKey::of(Digest digest) {
  const auto& bytes = digest.bytes();
  return {static_cast<std::uint16_t>(bytes[0] << 8 | bytes[1])};
}

Result<Ring> Ring::of(std::vector<std::string> members, std::size_t max_replica) {
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  if (members.empty()) return Error(Errc::invalid_argument, "a ring has one member at least");
  if (members.size() > kMembersMax) {
    return Error(Errc::invalid_argument, "a ring of " + std::to_string(members.size()) +
                                             " members: " + std::to_string(kMembersMax) +
                                             " are possible");
  }
  if (max_replica == 0) {
    return Error(Errc::invalid_argument, "hashring.max_replica must be 1 at least");
  }
  return Ring(std::move(members), max_replica);
}

bool Ring::has(std::string_view label) const {
  return std::binary_search(members_.begin(), members_.end(), label);
}

std::vector<Ring::Member> Ring::order(RingKey key) const {
  struct Place {
    std::uint64_t score;
    Member member;
  };
  std::string scratch;
  std::vector<Place> places;
  places.reserve(members_.size());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    places.push_back({score(key, members_[i], scratch), static_cast<Member>(i)});
  }
  // Members are sorted, so equal scores (of which nobody has seen any) are in the labels' order.
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
    return a.score != b.score ? a.score > b.score : a.member < b.member;
  });
  std::vector<Member> order;
  order.reserve(places.size());
  for (const auto& place : places) order.push_back(place.member);
  return order;
}

std::vector<Ring::Member> Ring::owners(RingKey key) const {
  auto owners = order(key);
  if (owners.size() > max_replica_) owners.resize(max_replica_);
  return owners;
}

std::vector<Ring::Member> Ring::locations(RingKey key, const std::vector<bool>& healthy) const {
  ORLOP_CHECK(healthy.size() == members_.size());
  const auto all = order(key);
  std::vector<Member> picked;
  for (std::size_t i = 0; i < all.size() && (i < max_replica_ || picked.empty()); ++i) {
    if (healthy[all[i]]) picked.push_back(all[i]);
  }
  if (picked.empty()) picked.push_back(all.front());
  return picked;
}

}  // namespace orlop
