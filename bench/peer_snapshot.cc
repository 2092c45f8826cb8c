// What a save of the peer registry's state costs: encoding, hashing, and making
// the snapshot ready to write, by how much of it changed; and what reading it
// costs.
//
// Table 1 is fed through the encoder's collection interface with 200,000 nodes
// and 5,000,000 short strings "i:3i", the shape that issue 8 has its bars for.
// Table 2 is the registry itself with as many nodes and pairs of real names.
// CPU time of the one thread that saves; median of 9. `peer_snapshot 1000000`
// has another number of pairs in table 2.

#include <time.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <vector>

#include "base/check.h"
#include "base/clock.h"
#include "base/random.h"
#include "core/digester.h"
#include "peer/registry.h"
#include "peer/registry_facts.h"
#include "peer/snapshot_check.h"
#include "peer/snapshot_encoder.h"
#include "peer/snapshot_file.h"

namespace {

std::atomic<std::uint64_t> allocations = 0;

}  // namespace

void* operator new(std::size_t size) {
  ++allocations;
  if (auto* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace orlop {
namespace {

constexpr std::size_t kNodes = 200'000;
constexpr std::size_t kRounds = 9;

/// Of this thread's CPU: the machine has other work, and a save has no waits
/// but the disk's.
std::chrono::nanoseconds cpu_time() {
  timespec now = {};
  ORLOP_CHECK(::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

double milliseconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

/// The median, in ms, of `work` after each `prepare`; both may be anything.
template <class Prepare, class Work>
double median(const Prepare& prepare, const Work& work) {
  std::array<double, kRounds> times;
  for (auto& time : times) {
    prepare();
    time = work();
  }
  std::sort(times.begin(), times.end());
  return times[kRounds / 2];
}

void row(const char* what, double time, const char* bar = "") {
  std::printf("%-62s %9.2f   %s\n", what, time, bar);
  std::fflush(stdout);
}

/// A node as in the original's benchmark, of 211 bytes of JSON.
struct BenchNode {
  std::uint64_t id;
  std::array<char, 44> key;
  std::array<char, 21> address;  ///< Filled up with digits: the length is constant.
  std::array<char, 20> host;
  std::array<char, 6> version;
  std::uint32_t seen;
  std::uint8_t zone;
  std::uint8_t state;
};

template <std::size_t kSize>
std::string_view text_of(const std::array<char, kSize>& text) {
  return {text.data(), kSize};
}

class BenchNodes final : public SnapshotCollection {
 public:
  static constexpr std::size_t kLeaves = 1024;

  explicit BenchNodes(Random& random) : revisions(kLeaves, 1) {
    leaves_.resize(kLeaves);
    for (std::size_t i = 0; i < kNodes; ++i) {
      auto& node = leaves_[i * kLeaves / kNodes].emplace_back();
      node.id = 1'000'000'000'000 + i * 7919;
      const auto fill = [&](auto& text, char from, unsigned count) {
        for (auto& letter : text)
          letter = static_cast<char>(from + static_cast<char>(random.next() % count));
      };
      fill(node.key, 'A', 26);
      fill(node.address, '0', 10);
      fill(node.host, 'a', 26);
      fill(node.version, '0', 10);
      node.seen = static_cast<std::uint32_t>(1'796'000'000 + random.next() % 10'000);
      node.zone = static_cast<std::uint8_t>(random.next() % 100);
      node.state = static_cast<std::uint8_t>(random.next() % 10);
    }
  }

  std::string_view name() const override { return "nodes"; }
  std::size_t section_count() const override { return kLeaves; }
  std::uint64_t revision(std::size_t section) const override { return revisions[section]; }
  std::uint64_t encode(std::size_t section, TextBuffer& out) override {
    std::string_view glue;
    for (const auto& node : leaves_[section]) {
      out.append(glue);
      out.append("{\"id\":");
      out.append_json(node.id);
      out.append(",\"public_key\":");
      out.append_json(text_of(node.key));
      out.append(",\"address\":");
      out.append_json(text_of(node.address));
      out.append(",\"zone\":");
      out.append_json(std::uint64_t{node.zone});
      out.append(",\"state\":");
      out.append_json(std::uint64_t{node.state});
      out.append(",\"last_seen\":");
      out.append_json(std::uint64_t{node.seen});
      out.append(",\"host_name\":");
      out.append_json(text_of(node.host));
      out.append(",\"version\":");
      out.append_json(text_of(node.version));
      out.append("}");
      glue = ",";
    }
    return revisions[section];
  }

  std::vector<std::uint64_t> revisions;

 private:
  std::vector<std::vector<BenchNode>> leaves_;
};

/// "i:3i" for i to 5,000,000, in 256 shards.
class BenchPairs final : public SnapshotCollection {
 public:
  static constexpr std::size_t kShards = 256;
  static constexpr std::uint64_t kPairs = 5'000'000;

  BenchPairs() : revisions(kShards, 1) {}
  std::string_view name() const override { return "pairs"; }
  std::size_t section_count() const override { return kShards; }
  std::uint64_t revision(std::size_t section) const override { return revisions[section]; }
  std::uint64_t encode(std::size_t section, TextBuffer& out) override {
    std::string_view glue = "\"";
    for (std::uint64_t i = section; i < kPairs; i += kShards) {
      out.append(glue);
      out.append_json(i);
      out.append(":");
      out.append_json(3 * i);
      out.append("\"");
      glue = ",\"";
    }
    return revisions[section];
  }

  std::vector<std::uint64_t> revisions;
};

void change_all(std::vector<std::uint64_t>& revisions) {
  for (auto& revision : revisions) ++revision;
}

std::filesystem::path bench_folder() {
  std::string name = (std::filesystem::temp_directory_path() / "orlop-bench-XXXXXX").string();
  ORLOP_CHECK(::mkdtemp(name.data()) != nullptr);
  return name;
}

void save(SnapshotFile& file, const SnapshotEncoder& encoder) {
  const auto saved = file.save(encoder.parts());
  if (saved) return;
  std::fprintf(stderr, "save: %s\n", saved.error().detail().c_str());
  std::exit(1);
}

void table_1(const Clock& clock, Random& random, SnapshotFile& file) {
  BenchNodes nodes(random);
  BenchPairs pairs;
  const std::array<SnapshotCollection*, 2> both{&nodes, &pairs};
  SnapshotEncoder encoder(both, clock);
  const auto encode = [&] {
    const auto begin = cpu_time();
    encoder.encode(1);
    return milliseconds(cpu_time() - begin);
  };
  for (int warm = 0; warm < 3; ++warm) {
    change_all(nodes.revisions);
    change_all(pairs.revisions);
    encode();
  }
  std::printf(
      "table 1: 200,000 nodes, 5,000,000 strings \"i:3i\", %zu "
      "bytes\n%-62s %9s   bar\n",
      encoder.size_bytes(), "", "ms");

  const auto all_nodes = [&] { change_all(nodes.revisions); };
  std::vector<TextBuffer> leaves(BenchNodes::kLeaves);
  const auto encode_nodes = [&] {
    const auto begin = cpu_time();
    for (std::size_t i = 0; i < leaves.size(); ++i) {
      leaves[i].clear();
      nodes.encode(i, leaves[i]);
    }
    return milliseconds(cpu_time() - begin);
  };
  encode_nodes();
  const auto nodes_alone = allocations.load();
  row("nodes alone, all changed: encode", median([] {}, encode_nodes), "10");
  row("  allocations", static_cast<double>(allocations - nodes_alone), "0");
  row("for comparison: SHA-256 of these bytes",
      median([] {},
             [&] {
               const auto begin = cpu_time();
               Digester digester;
               for (const auto& leaf : leaves) {
                 digester.update(std::as_bytes(std::span(leaf.text().data(), leaf.text().size())));
               }
               digester.finish_and_restart();
               return milliseconds(cpu_time() - begin);
             }));
  const auto before = allocations.load();
  const auto unchanged_pairs = median(all_nodes, encode);
  row("all nodes changed, pairs not, checksum, ready to write", unchanged_pairs, "40");
  const auto tenth = [&] {
    for (std::size_t i = 0; i < nodes.revisions.size(); i += 10) ++nodes.revisions[i];
  };
  row("a tenth of the leaves changed", median(tenth, encode), "6");
  row("nothing changed", median([] {}, encode), "0.1");
  const auto one_pair = [&] {
    all_nodes();
    ++pairs.revisions[random.next() % pairs.revisions.size()];
  };
  const auto changed_pair = median(one_pair, encode);
  row("all nodes changed, and one pair", changed_pair);
  row("  times the save without that pair", changed_pair / unchanged_pairs, "1.2");
  row("allocations in all of these saves", static_cast<double>(allocations - before), "0");

  save(file, encoder);
  row("read and check: checksum and all digests (nothing parsed)",
      median([] {},
             [&] {
               const auto begin = cpu_time();
               const auto bytes =
                   file.read(SnapshotFile::Generation::current, std::size_t{2} << 30, 0);
               ORLOP_CHECK(bytes.has_value());
               ORLOP_CHECK(check_snapshot(*bytes).has_value());
               return milliseconds(cpu_time() - begin);
             }));
}

NodeSighting sighting_number(std::size_t number) {
  const auto ip = "10." + std::to_string(number >> 16 & 255) + "." +
                  std::to_string(number >> 8 & 255) + "." + std::to_string(number & 255);
  return {.id = PeerId::from_address(ip, 16001),
          .ip = ip,
          .port = 16001,
          .zone = "zone1",
          .cluster = "cluster1",
          .version = "1.2.3",
          .tags = {}};
}

void table_2(const Clock& clock, Random& random, SnapshotFile& file, std::size_t pair_count) {
  PeerRegistry registry({.nodes_max = kNodes,
                         .pairs_max = pair_count,
                         .pairs_of_peer_max = pair_count,
                         .seen_grain = 0},
                        clock, random);
  std::vector<NodeSighting> peers;
  for (std::size_t i = 0; i < kNodes; ++i) peers.push_back(sighting_number(i));
  std::vector<InfoHash> infohashes;
  const auto torrents = pair_count / 25 + 1;  // 25 peers a blob.
  for (std::size_t i = 0; i < torrents; ++i) {
    infohashes.emplace_back(PeerId::random(random).bytes());
  }
  std::size_t announced = 0;
  const auto announce = [&](bool complete) {
    const auto& peer = peers[announced * 7919 % kNodes];
    const auto done = registry.announce(infohashes[announced % torrents], peer, complete);
    ORLOP_CHECK(done.has_value());
    ++announced;
  };
  const auto begin = cpu_time();
  while (announced < pair_count) announce(true);
  const auto filled = cpu_time() - begin;
  std::printf("\ntable 2: the registry, %zu nodes, %zu pairs of 25 a blob\n",
              registry.nodes().size(), registry.pairs().size());
  const auto count = static_cast<double>(pair_count);
  row("a new pair: us each", milliseconds(filled) * 1000 / count);
  announced = 0;
  const auto asked = cpu_time();
  for (int i = 0; i < 100'000; ++i) announce(false);
  row("an announce that is answered with peers: us each", milliseconds(cpu_time() - asked) / 100);
  row("bytes a pair",
      static_cast<double>(registry.pairs().memory_bytes()) /
          static_cast<double>(registry.pairs().size()),
      "120");

  SnapshotEncoder encoder(registry.collections(), clock);
  const auto encode = [&] {
    const auto start = cpu_time();
    encoder.encode(1);
    return milliseconds(cpu_time() - start);
  };
  row("the first save, ms", encode());
  std::printf("%-62s %9zu\n", "  of bytes", encoder.size_bytes());
  const auto all_nodes = [&] {
    auto changed = peers.front();
    static int version = 0;
    const auto text = std::to_string(++version);
    for (const auto& peer : peers) {
      changed = peer;
      changed.version = text;
      ORLOP_CHECK(registry.nodes().touch(changed, registry.now()).has_value());
    }
  };
  row("all nodes changed, pairs not, ms", median(all_nodes, encode));
  row("one pair changed, ms",
      median(
          [&] {
            const auto card = registry.nodes().card(peers.front().id);
            static bool complete = false;
            complete = !complete;
            ORLOP_CHECK(registry.pairs().put(infohashes[0], card, complete, registry.now()));
          },
          encode));
  row("nothing changed, ms", median([] {}, encode));
  save(file, encoder);
  std::array<double, 3> loads;
  for (auto& load : loads) {
    const auto start = cpu_time();
    auto bytes = file.read(SnapshotFile::Generation::current, std::size_t{2} << 30,
                           snapshot_padding_bytes());
    ORLOP_CHECK(bytes.has_value());
    const auto facts = parse_registry(*bytes);
    ORLOP_CHECK(facts.has_value());
    load = milliseconds(cpu_time() - start);
  }
  std::sort(loads.begin(), loads.end());
  row("read, check, parse, look at every element, ms", loads[1]);
}

}  // namespace
}  // namespace orlop

int main(int argc, char** argv) {
  const auto pair_count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 5'000'000;
  const orlop::SystemClock clock;
  orlop::Random random(1);
  orlop::PosixDisk disk;
  const auto folder = orlop::bench_folder();
  orlop::SnapshotFile file(disk, folder / "peers.snapshot");
  orlop::table_1(clock, random, file);
  orlop::table_2(clock, random, file, pair_count);
  std::filesystem::remove_all(folder);
  return 0;
}
