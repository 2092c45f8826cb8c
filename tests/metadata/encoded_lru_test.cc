#include "metadata/encoded_lru.h"

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cstdint>
#include <list>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/base/manual_clock.h"

namespace orlop {
namespace {

using namespace std::chrono_literals;

/// The same cache as simply as it can be said.
class PlainLru {
 public:
  PlainLru(EncodedLruOptions options) : options_(std::move(options)) {}

  bool set(const std::string& key, const std::string& value, std::chrono::nanoseconds expiry) {
    std::erase_if(uses_, [&](const auto& use) { return use.key == key; });
    if (cost(key, value) > options_.bytes_max) return false;
    uses_.push_back({key, value, expiry == 0ns ? Clock::Steady::max() : now() + expiry});
    const auto bytes = [this] {
      std::size_t sum = 0;
      for (const auto& use : uses_) sum += cost(use.key, use.value);
      return sum;
    };
    while (uses_.size() > options_.entries_max || bytes() > options_.bytes_max) uses_.pop_front();
    return true;
  }
  std::optional<std::string> get(const std::string& key) {
    const auto found = find(key);
    if (found == uses_.end()) return std::nullopt;
    uses_.splice(uses_.end(), uses_, found);
    return uses_.back().value;
  }
  bool remove(const std::string& key) {
    const auto found = find(key);
    if (found == uses_.end()) return false;
    uses_.erase(found);
    return true;
  }
  void purge() { uses_.clear(); }
  std::vector<std::string> keys() const {
    std::vector<std::string> keys;
    for (const auto& use : uses_) keys.push_back(use.key);
    return keys;
  }

 private:
  struct Use {
    std::string key;
    std::string value;
    Clock::Steady expires_at;
  };

  Clock::Steady now() const { return options_.clock->steady(); }
  static std::size_t cost(const std::string& key, const std::string& value) {
    const std::size_t head = value.size() < 32 ? 1 : value.size() < 256 ? 2 : 3;
    return EncodedLru::kEntryBytes + key.size() + head + value.size();
  }
  /// Drops it if it expired.
  std::list<Use>::iterator find(const std::string& key) {
    const auto found =
        std::find_if(uses_.begin(), uses_.end(), [&](const auto& use) { return use.key == key; });
    if (found == uses_.end() || now() < found->expires_at) return found;
    uses_.erase(found);
    return uses_.end();
  }

  EncodedLruOptions options_;
  std::list<Use> uses_;
};

void compare_with_model(std::uint64_t seed) {
  INFO("seed " << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](std::uint64_t bound) {
    return static_cast<std::size_t>(random() % bound);
  };
  ManualClock clock;
  const EncodedLruOptions options{.entries_max = 1 + below(40),
                                  .bytes_max = 200 + below(6000),
                                  .default_expiry = below(2) == 0 ? 0s : 5s,
                                  .clock = &clock};
  EncodedLru lru(options);
  PlainLru model(options);
  for (int step = 0; step < 3000; ++step) {
    const auto key = std::to_string(below(60));
    const std::string value(below(10) == 0 ? below(8000) : below(200), 'v');
    switch (below(16)) {
      case 0: clock.advance(std::chrono::milliseconds(below(2000))); break;
      case 1: REQUIRE(lru.remove(key) == model.remove(key)); break;
      case 2:
        if (below(20) == 0) lru.purge(), model.purge();
        break;
      case 3:
      case 4: REQUIRE(lru.set(key, value) == model.set(key, value, 0ns)); break;
      case 5:
        REQUIRE(lru.set_with_default_expiry(key, value) ==
                model.set(key, value, options.default_expiry));
        break;
      case 6:
      case 7: {
        const auto expiry = std::chrono::seconds(below(4));
        REQUIRE(lru.set_with_expiry(key, value, expiry) == model.set(key, value, expiry));
        break;
      }
      default: {
        std::string read = "untouched";
        const auto got = lru.get(key, read);
        const auto expected = model.get(key);
        REQUIRE(got.has_value() == expected.has_value());
        REQUIRE(read == expected.value_or("untouched"));
      }
    }
    REQUIRE(lru.keys() == model.keys());
    REQUIRE(lru.length() == model.keys().size());
  }
}

TEST_CASE("encoded lru: whatever is done, it behaves as a plain list of uses") {
  const std::uint64_t first = std::random_device()();
  for (std::uint64_t seed = first; seed < first + 10; ++seed) compare_with_model(seed);
}

TEST_CASE(
    "encoded lru: bytes that are no such value are corrupt, and other "
    "keys are not here") {
  EncodedLru lru({.invalidation_event = "records"});
  lru.set("a", std::string("text"));
  std::int64_t number = 4;
  CHECK(lru.get("a", number).error().code() == Errc::corrupt);
  number = 4;
  CHECK(lru.get("b", number).error().code() == Errc::not_found);
  CHECK(number == 4);
  CHECK(lru.invalidation_event() == "records");
}

TEST_CASE("encoded lru: threads at once read only what was set under the key") {
  EncodedLru lru({.entries_max = 50});
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (unsigned thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::mt19937_64 random(thread);
      for (int i = 0; i < 20'000; ++i) {
        const auto key = std::to_string(random() % 80);
        std::string read;
        if (random() % 3 == 0) lru.set(key, key);
        if (random() % 50 == 0) lru.remove(key);
        if (random() % 2000 == 0) lru.purge();
        if (lru.get(key, read) && read != key) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(wrong == 0);
  CHECK(lru.length() <= 50);
}

}  // namespace
}  // namespace orlop
