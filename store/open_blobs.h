#pragma once

#include <array>
#include <cstddef>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "core/digest.h"

namespace orlop {

/// Which blobs somebody is reading right now, so that clean-up leaves them: to remove one would not
/// free its space before the reader is done, so more would be removed than is needed.
///
/// Safe from any thread; never blocks on I/O.
class OpenBlobs {
 public:
  /// One reader of one blob, until it is destroyed. Outlived by its OpenBlobs.
  class Pin {
   public:
    Pin() = default;
    Pin(Pin&& other) noexcept
        : blobs_(std::exchange(other.blobs_, nullptr)), digest_(other.digest_) {}
    Pin& operator=(Pin&& other) noexcept {
      std::swap(blobs_, other.blobs_);
      std::swap(digest_, other.digest_);
      return *this;
    }
    ~Pin() {
      if (blobs_ != nullptr) blobs_->unpin(digest_);
    }

   private:
    friend class OpenBlobs;
    Pin(OpenBlobs* blobs, Digest digest) : blobs_(blobs), digest_(digest) {}

    OpenBlobs* blobs_ = nullptr;
    Digest digest_{{}};
  };

  Pin pin(Digest digest);

  /// Whoever has claimed the digest (store/digest_claims.h) and is told "no" can remove it: a
  /// reader that pins it from now on sees the claim and waits.
  bool is_open(Digest digest) const;

  /// How many different blobs are being read.
  std::size_t count() const;

 private:
  struct Shard {
    mutable std::mutex mutex;
    std::unordered_map<Digest, std::size_t> readers;
  };

  void unpin(Digest digest);
  Shard& shard(Digest digest) { return shards_[digest.bytes()[1] % shards_.size()]; }
  const Shard& shard(Digest digest) const { return shards_[digest.bytes()[1] % shards_.size()]; }

  std::array<Shard, 64> shards_;
};

}  // namespace orlop
