#include "store/digest_claims.h"

#include <catch2/catch.hpp>

#include "core/digester.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

const Digest kDigest = digest_of("a");

TEST_CASE("digest claims: a claimed digest cannot be claimed again until the claim ends") {
  DigestClaims claims;
  {
    const auto claim = claims.try_claim(kDigest);
    REQUIRE(claim);
    CHECK_FALSE(claims.try_claim(kDigest));
    CHECK(claims.pending(kDigest) != nullptr);
  }
  CHECK(claims.pending(kDigest) == nullptr);
  CHECK(claims.try_claim(kDigest));
}

TEST_CASE("digest claims: digests do not get in each other's way, even in one shard") {
  DigestClaims claims;
  auto neighbour_bytes = kDigest.bytes();
  neighbour_bytes[31] ^= 1;
  const Digest neighbour(neighbour_bytes);
  const auto claim = claims.try_claim(kDigest);
  REQUIRE(claim);

  CHECK(claims.pending(neighbour) == nullptr);
  CHECK(claims.try_claim(neighbour));
}

TEST_CASE("digest claims: whoever waits is woken when the claim ends") {
  DigestClaims claims;
  asio::io_context io;
  auto claim = claims.try_claim(kDigest);
  bool woken = false;
  const auto pending = claims.pending(kDigest);
  REQUIRE(pending != nullptr);
  auto waiter = [&]() -> Task<> { woken = co_await pending->wait_for(10s); };
  asio::co_spawn(io, waiter(), rethrow);
  io.poll();
  CHECK_FALSE(woken);

  claim.reset();
  io.run();

  CHECK(woken);
}

TEST_CASE("digest claims: the end of one claim says nothing of the next") {
  DigestClaims claims;
  auto claim = claims.try_claim(kDigest);
  const auto first = claims.pending(kDigest);
  claim.reset();
  const auto again = claims.try_claim(kDigest);
  const auto second = claims.pending(kDigest);

  CHECK(first->is_set());
  REQUIRE(second != nullptr);
  CHECK_FALSE(second->is_set());
}

TEST_CASE("digest claims: a moved claim is still one claim") {
  DigestClaims claims;
  auto claim = claims.try_claim(kDigest);
  REQUIRE(claim);
  {
    const auto moved = *std::move(claim);
    claim.reset();
    CHECK(claims.pending(kDigest) != nullptr);
  }
  CHECK(claims.pending(kDigest) == nullptr);
}

}  // namespace
}  // namespace orlop
