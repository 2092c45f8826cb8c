#include "store/digest_claims.h"

namespace orlop {

std::optional<DigestClaims::Claim> DigestClaims::try_claim(Digest digest) {
  auto& in = shard(digest);
  const std::lock_guard lock(in.mutex);
  if (!in.claimed.try_emplace(digest, std::make_shared<Event>()).second) return std::nullopt;
  return Claim(this, digest);
}

std::shared_ptr<Event> DigestClaims::pending(Digest digest) const {
  const auto& in = shard(digest);
  const std::lock_guard lock(in.mutex);
  const auto found = in.claimed.find(digest);
  return found == in.claimed.end() ? nullptr : found->second;
}

void DigestClaims::release(Digest digest) {
  auto& in = shard(digest);
  std::shared_ptr<Event> over;
  {
    const std::lock_guard lock(in.mutex);
    const auto found = in.claimed.find(digest);
    ORLOP_CHECK(found != in.claimed.end());
    over = std::move(found->second);
    in.claimed.erase(found);
  }
  over->set();
}

}  // namespace orlop
