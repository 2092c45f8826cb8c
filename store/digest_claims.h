#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/event.h"
#include "core/digest.h"

namespace orlop {

/// Who is changing which digest right now (design, section 3, "States of a digest").
///
/// A digest is claimed before its file is renamed, removed or verified, and released when the
/// outcome is durable. Whoever asks for a claimed digest waits for the outcome, so nothing is
/// readable, and nothing is "already here", before a power cut could no longer take it away.
///
/// Safe from any thread; never blocks on I/O.
class DigestClaims {
 public:
  /// The right to change one digest, until it is destroyed. Outlived by its DigestClaims.
  class Claim {
   public:
    Claim(Claim&& other) noexcept
        : claims_(std::exchange(other.claims_, nullptr)), digest_(other.digest_) {}
    Claim& operator=(Claim&& other) noexcept {
      std::swap(claims_, other.claims_);
      std::swap(digest_, other.digest_);
      return *this;
    }
    ~Claim() {
      if (claims_ != nullptr) claims_->release(digest_);
    }

   private:
    friend class DigestClaims;
    Claim(DigestClaims* claims, Digest digest) : claims_(claims), digest_(digest) {}

    DigestClaims* claims_;
    Digest digest_;
  };

  /// The claim, or nothing if somebody else has it.
  std::optional<Claim> try_claim(Digest digest);

  /// Set when the present claim on `digest` ends; null if nobody has claimed it.
  std::shared_ptr<Event> pending(Digest digest) const;

 private:
  struct Shard {
    mutable std::mutex mutex;
    // Shared by the claim and by those who wait for its end.
    std::unordered_map<Digest, std::shared_ptr<Event>> claimed;
  };

  void release(Digest digest);
  Shard& shard(Digest digest) { return shards_[digest.bytes()[0] % shards_.size()]; }
  const Shard& shard(Digest digest) const { return shards_[digest.bytes()[0] % shards_.size()]; }

  std::array<Shard, 64> shards_;
};

}  // namespace orlop
