// What threads share in a registry: run it under TSan (./dev sanitize tsan).

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "peer/registry_facts.h"
#include "peer/snapshot_encoder.h"
#include "tests/base/manual_clock.h"
#include "tests/peer/reference_snapshot.h"

namespace orlop {
namespace {

TEST_CASE("registry: announces, expiries and saves at once leave a registry that is whole") {
  constexpr int kThreads = 4;
  constexpr std::uint32_t kAnnounces = 4000;
  ManualClock clock;
  Random random(1);
  PeerRegistry registry({.nodes_max = 300, .pairs_max = 2000, .ttl = 100, .seen_grain = 5}, clock,
                        random);
  SnapshotEncoder encoder(registry.collections(), clock);
  std::atomic<int> running = kThreads;
  std::atomic<int> wrong = 0;

  std::vector<std::thread> threads;
  for (std::uint32_t thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&, thread] {
      Random own(thread + 10);
      for (std::uint32_t i = 0; i < kAnnounces; ++i) {
        auto peer = peer_number(static_cast<std::uint32_t>(own.next() % 400));
        // Two peers at one address, and one that moves.
        if (own.next() % 50 == 0) peer.ip = "10.1.1." + std::to_string(own.next() % 5);
        const auto infohash = infohash_number(static_cast<std::uint32_t>(own.next() % 30));
        const auto answer = registry.announce(infohash, peer, own.next() % 2 == 0);
        if (!answer || answer->peers.size() > 50) ++wrong;
        if (i % 100 == 0) clock.advance(std::chrono::seconds(1));
      }
      --running;
    });
  }
  int saves = 0;
  do {
    registry.expire();
    encoder.encode(1);
    std::string bytes;
    for (const auto part : encoder.parts()) bytes += part;
    bytes.append(snapshot_padding_bytes(), '\0');
    if (!parse_registry(bytes)) ++wrong;
    ++saves;
  } while (running > 0);
  for (auto& thread : threads) thread.join();

  CHECK(wrong == 0);
  CHECK(saves > 0);
  CHECK(registry.nodes().size() <= 300);
  CHECK(registry.pairs().size() <= 2000);
  clock.advance(std::chrono::seconds(1000));
  registry.expire();
  CHECK(registry.nodes().size() == 0);
  CHECK(registry.pairs().size() == 0);
}

}  // namespace
}  // namespace orlop
