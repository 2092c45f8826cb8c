#pragma once

#include <cstdint>
#include <mutex>
#include <random>
#include <span>

namespace orlop {

/// The program's source of chance: seeded from the system, or by a test. Not for secrets.
/// Safe to call from any thread.
class Random {
 public:
  Random() {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device(), device(), device()};
    engine_.seed(seed);
  }
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  std::uint64_t next() {
    const std::lock_guard lock(mutex_);
    return engine_();
  }

  void fill(std::span<std::uint8_t> bytes) {
    for (std::size_t i = 0; i < bytes.size(); i += 8) {
      auto word = next();
      for (std::size_t k = i; k < bytes.size() && k < i + 8; ++k, word >>= 8) {
        bytes[k] = static_cast<std::uint8_t>(word);
      }
    }
  }

 private:
  std::mutex mutex_;
  std::mt19937_64 engine_;
};

}  // namespace orlop
