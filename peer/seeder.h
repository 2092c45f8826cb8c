#pragma once

#include <chrono>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "peer/seed.h"
#include "peer/swarm.h"

namespace orlop {

/// Gives the pieces of this node's blobs to peers: unmodified Kraken agents download from it as
/// from Kraken's own origin (kraken-p2p.md). It dials nobody and announces nothing; a blob is
/// seeded when a peer asks for it.
///
/// Whatever a peer sends costs at most its connection. What is refused is closed without a word, as
/// agents expect; a fault of our own too, because an agent that gets an error instead stalls.
///
/// One thread of its own serves all peers; big pieces go a slice at a time, so that all get on.
class Seeder {
 public:
  explicit Seeder(const SeederOptions& options);
  /// Pre: `stop` has returned, if `start` was called. Outlives the pool on which seeds read.
  ~Seeder();

  /// Binds and listens, and gives the port.
  Result<std::uint16_t> listen();
  /// Serves from now on. `source` outlives the call of `stop`. Pre: `listen` succeeded.
  void start(SeedSource& source);
  /// No new connections; those that wait for requests end at once, the others after their piece.
  /// What is left after `grace` is cut. Returns when all of it is gone.
  void stop(std::chrono::nanoseconds grace);

  /// From any thread; a moment old.
  SwarmStats stats() const;

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace orlop
