// What it costs to read a blob's metainfo from memory: get an owning handle, read a field, drop it.
// While a writer evicts and inserts 10,000 objects a second, and against a loop of the same work in
// which two threads share nothing (issue 5, "Bars").
//
//   metadata_read [milliseconds a measurement, 60 if not given]

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include "metadata/metainfo_cache.h"

namespace {

constinit thread_local std::uint64_t allocations = 0;

void* counted(std::size_t bytes) {
  ++allocations;
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes); }
void* operator new[](std::size_t bytes) { return counted(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace orlop {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::uint64_t kMib = 1 << 20;
constexpr std::size_t kKeys = 1000;
constexpr std::size_t kManyKeys = 1'000'000;
constexpr std::size_t kChurned = 512;  // Objects beside the keys, for the writer to evict.
constexpr std::uint64_t kNeverRead = std::uint64_t{1} << 40;  // Numbers of such keys.
constexpr int kRuns = 9;
constexpr int kQuietest = 5;
constexpr double kNsBar = 8;
constexpr double kManyNsBar = 120;
constexpr double kScalingBar = 0.95;

struct Shape {
  const char* name;
  std::uint64_t size_bytes;
  std::uint64_t piece_length;
};

constexpr std::array<Shape, 6> kShapes = {{{"1 MB, 4 pieces", kMib, kMib / 4},
                                           {"16 MB, 64 pieces", 16 * kMib, kMib / 4},
                                           {"64 MB, 256 pieces", 64 * kMib, kMib / 4},
                                           {"16 MB, 4 pieces of 4 MB", 16 * kMib, 4 * kMib},
                                           {"16 MB, 16 pieces of 1 MB", 16 * kMib, kMib},
                                           {"16 MB, 1,024 pieces of 16 KB", 16 * kMib, kMib / 64}}};

/// SplitMix64: any number of well spread digests without a table of them, whose reading would be
/// a part of what is measured.
Digest key(std::uint64_t number) {
  std::array<std::uint8_t, Digest::kBytes> bytes;
  for (std::size_t word = 0; word < 4; ++word) {
    auto z = (number * 4 + word + 1) * 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    z ^= z >> 31;
    std::memcpy(bytes.data() + 8 * word, &z, sizeof z);
  }
  return Digest(bytes);
}

MetaInfo shaped(const Digest& digest, const Shape& shape) {
  const auto pieces = static_cast<std::size_t>(shape.size_bytes / shape.piece_length);
  std::vector<std::uint32_t> sums(pieces);
  for (std::size_t i = 0; i < pieces; ++i) sums[i] = static_cast<std::uint32_t>(i * 2654435761U);
  return *MetaInfo::make(digest, shape.size_bytes, shape.piece_length, std::move(sums));
}

using Keys = std::vector<Digest>;

/// The keys in a random order, in which they are read: what is asked for next is in the processor's
/// cache, and what is found is not.
Keys shuffled(std::size_t count) {
  Keys keys;
  for (std::size_t number = 0; number < count; ++number) keys.push_back(key(number));
  std::shuffle(keys.begin(), keys.end(), std::mt19937_64(2));
  return keys;
}

/// A cache with `keys` objects of the shape, and room for those that the writer puts in.
std::unique_ptr<MetaInfoCache> filled(const Shape& shape, std::size_t keys, Random& random) {
  // An eighth more than the keys: a tenth is always for what nobody has read yet.
  const auto churned = std::max(kChurned, keys / 8);
  const auto bytes = keys * MetaInfoCache::bytes_of(shaped(key(0), shape)) +
                     churned * MetaInfoCache::bytes_of(shaped(key(0), kShapes[0]));
  auto cache = std::make_unique<MetaInfoCache>(
      MetaInfoCacheOptions{.bytes_max = bytes * 8 / 7 + kMib}, random);
  for (std::size_t number = 0; number < keys; ++number) {
    const auto digest = key(number);
    (void)cache->insert(shaped(digest, shape), cache->version(digest));
    (void)cache->share(digest);  // It was read, so it stays.
  }
  for (std::size_t number = 0; number < 2 * churned + 1000; ++number) {
    const auto digest = key(kNeverRead + number);
    (void)cache->insert(shaped(digest, kShapes[0]), cache->version(digest));
  }
  return cache;
}

/// Evicts and inserts 10,000 a second for as long as it lives.
class Writer {
 public:
  explicit Writer(MetaInfoCache& cache) : thread_([this, &cache] { run(cache); }) {}
  ~Writer() {
    stop_ = true;
    thread_.join();
  }

 private:
  void run(MetaInfoCache& cache) {
    auto number = 2 * kNeverRead;
    for (auto at = Steady::now(); !stop_; at += std::chrono::milliseconds(1)) {
      std::this_thread::sleep_until(at);
      for (int i = 0; i < 10; ++i, ++number) {
        const auto digest = key(number);
        (void)cache.insert(shaped(digest, kShapes[0]), cache.version(digest));
      }
    }
  }

  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

/// What is read: the handle alone, or a field of the object too, which lies on a line of its own.
enum class Look : std::uint8_t { at_handle, at_field };

struct Sample {
  double ns = 0;    ///< Processor time a read.
  double idle = 0;  ///< The part of the time in which the thread did not run: others did.
  std::uint64_t missed = 0;
  std::uint64_t allocated = 0;
};

double thread_ns() {
  timespec time;
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

void pin_to(unsigned core) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  ::pthread_setaffinity_np(::pthread_self(), sizeof set, &set);  // If not, it is only noisier.
}

/// Reads for a while, resting after each 64 reads as a reactor does between turns.
Sample read_for(MetaInfoCache& cache, const Keys& keys, Look look, std::chrono::milliseconds time) {
  MetaInfoReader reader(cache);
  Sample sample;
  std::uint64_t reads = 0;
  // Each thread begins somewhere else.
  auto next = static_cast<std::size_t>(std::hash<std::thread::id>()(std::this_thread::get_id())) %
              keys.size();
  std::uint64_t sum_of_all = 0;
  const auto allocated = allocations;
  const auto begin = Steady::now();
  const auto begin_ns = thread_ns();
  while (Steady::now() - begin < time) {
    for (int turn = 0; turn < 64; ++turn) {
      for (int i = 0; i < 64; ++i) {
        const auto got = cache.get(keys[next], MetadataKind::torrent_meta);
        next = next + 1 == keys.size() ? 0 : next + 1;
        if (!*got) {
          ++sample.missed;
        } else if (look == Look::at_handle) {
          sum_of_all += reinterpret_cast<std::uintptr_t>(got->get());
        } else {
          sum_of_all += (*got)->size_bytes();
        }
      }
      reader.rest();
    }
    reads += 64 * 64;
  }
  const auto used = thread_ns() - begin_ns;
  const std::chrono::duration<double, std::nano> passed = Steady::now() - begin;
  sample.ns = used / static_cast<double>(reads);
  sample.idle = 1 - used / passed.count();
  sample.allocated = allocations - allocated;
  static std::atomic<std::uint64_t> result;  // So that nothing is optimised away.
  result += sum_of_all;
  return sample;
}

/// Both threads' mean; on `caches[i]`, which may be one cache.
Sample read_by_two(const std::array<MetaInfoCache*, 2>& caches, const Keys& keys, Look look,
                   std::chrono::milliseconds time) {
  std::array<Sample, 2> samples;
  std::atomic<int> ready = 0;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 2; ++i) {
    threads.emplace_back([&, i] {
      pin_to(i);
      ++ready;
      while (ready < 2) std::this_thread::yield();
      samples[i] = read_for(*caches[i], keys, look, time);
    });
  }
  for (auto& thread : threads) thread.join();
  return {.ns = (samples[0].ns + samples[1].ns) / 2,
          .idle = std::max(samples[0].idle, samples[1].idle),
          .missed = samples[0].missed + samples[1].missed,
          .allocated = samples[0].allocated + samples[1].allocated};
}

Sample read_by_one(MetaInfoCache& cache, const Keys& keys, Look look,
                   std::chrono::milliseconds time) {
  Sample sample;
  std::thread([&] {
    pin_to(0);
    sample = read_for(cache, keys, look, time);
  }).join();
  return sample;
}

/// The median of the quietest runs.
double median_ns(std::vector<Sample> runs) {
  std::sort(runs.begin(), runs.end(),
            [](const Sample& a, const Sample& b) { return a.idle < b.idle; });
  runs.resize(kQuietest);
  std::sort(runs.begin(), runs.end(), [](const Sample& a, const Sample& b) { return a.ns < b.ns; });
  return runs[kQuietest / 2].ns;
}

const char* verdict(bool met) { return met ? "met" : "MISSED"; }

void measure(const Shape& shape, std::size_t key_count, Look look, double ns_bar,
             std::chrono::milliseconds time) {
  Random random(1);
  const auto keys = shuffled(key_count);
  const auto shared = filled(shape, key_count, random);
  std::array<std::unique_ptr<MetaInfoCache>, 2> own;
  if (key_count <= kKeys)
    own = {filled(shape, key_count, random), filled(shape, key_count, random)};
  const Writer writer(*shared);
  std::vector<Sample> one;
  std::vector<Sample> two;
  std::vector<Sample> control_one;
  std::vector<Sample> control_two;
  std::uint64_t missed = 0;
  std::uint64_t allocated = 0;
  for (int run = 0; run < kRuns; ++run) {
    one.push_back(read_by_one(*shared, keys, look, time));
    two.push_back(read_by_two({shared.get(), shared.get()}, keys, look, time));
    missed += one.back().missed + two.back().missed;
    allocated += one.back().allocated + two.back().allocated;
    if (own[0] == nullptr) continue;
    control_one.push_back(read_by_one(*own[0], keys, look, time));
    control_two.push_back(read_by_two({own[0].get(), own[1].get()}, keys, look, time));
  }
  const auto ns = median_ns(one);
  const auto scaling = 2 * ns / median_ns(two);
  std::printf("%-29s %9zu %7.1f  %5.0f %-6s %5.2f", shape.name, key_count, ns, ns_bar,
              ns_bar > 0 ? verdict(ns <= ns_bar) : "-", scaling);
  if (own[0] != nullptr) {
    const auto control = 2 * median_ns(control_one) / median_ns(control_two);
    std::printf("  %5.2f  %-6s", control, verdict(scaling >= kScalingBar * control));
  } else {
    std::printf("  %5s  %-6s", "-", "-");
  }
  std::printf("  %6llu %8llu\n", static_cast<unsigned long long>(allocated),
              static_cast<unsigned long long>(missed));
  std::fflush(stdout);
}

/// What the memory alone takes of a read of one in a million: two random lines, the second one
/// named by the first, of arrays as large as the table and the entries are.
Sample read_two_lines(const std::vector<std::uint32_t>& first,
                      const std::vector<std::array<std::uint64_t, 8>>& second,
                      std::chrono::milliseconds time) {
  Sample sample;
  std::uint64_t reads = 0;
  std::uint64_t next = 12345;
  std::uint64_t sum = 0;
  const auto begin = Steady::now();
  const auto begin_ns = thread_ns();
  while (Steady::now() - begin < time) {
    for (int i = 0; i < 64 * 64; ++i) {
      next = next * 6364136223846793005 + 1442695040888963407;
      sum += second[first[((next >> 32) * first.size()) >> 32]][0];
    }
    reads += 64 * 64;
  }
  const auto used = thread_ns() - begin_ns;
  const std::chrono::duration<double, std::nano> passed = Steady::now() - begin;
  static std::atomic<std::uint64_t> result;  // So that nothing is optimised away.
  result += sum;
  sample.ns = used / static_cast<double>(reads);
  sample.idle = 1 - used / passed.count();
  return sample;
}

void measure_floor(std::chrono::milliseconds time) {
  std::vector<std::uint32_t> first(std::size_t{1} << 23);
  for (std::size_t i = 0; i < first.size(); ++i) {
    first[i] = static_cast<std::uint32_t>((i * 0x9e3779b97f4a7c15 >> 20) % kManyKeys);
  }
  const std::vector<std::array<std::uint64_t, 8>> second(kManyKeys);
  std::vector<Sample> runs;
  runs.reserve(kRuns);
  for (int run = 0; run < kRuns; ++run) runs.push_back(read_two_lines(first, second, time));
  std::printf("%-29s %9zu %7.1f\n", "two random lines, dependent", kManyKeys, median_ns(runs));
}

int run(int argc, char** argv) {
  const std::chrono::milliseconds time(argc > 1 ? std::max(1L, std::strtol(argv[1], nullptr, 10))
                                                : 60);
  std::printf("get + drop of an owning handle; a writer evicts and inserts 10,000 a second\n");
  std::printf("%-29s %9s %7s  %5s %-6s %5s  %5s  %-6s  %6s %8s\n", "shape", "keys", "ns", "bar", "",
              "x 2", "alone", ">=95%", "allocs", "missed");
  for (const auto& shape : kShapes) {
    measure(shape, 1, Look::at_handle, kNsBar, time);
    measure(shape, kKeys, Look::at_handle, kNsBar, time);
  }
  measure(kShapes[0], kManyKeys, Look::at_handle, kManyNsBar, time);
  measure_floor(time);
  std::printf("the same, and a field of the object is read: one cache line more, no bar\n");
  measure(kShapes[0], 1, Look::at_field, 0, time);
  measure(kShapes[0], kKeys, Look::at_field, 0, time);
  measure(kShapes[0], kManyKeys, Look::at_field, 0, time);
  return 0;
}

}  // namespace
}  // namespace orlop

int main(int argc, char** argv) { return orlop::run(argc, argv); }
