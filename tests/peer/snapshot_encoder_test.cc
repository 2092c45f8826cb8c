#include "peer/snapshot_encoder.h"

#include <array>
#include <catch2/catch.hpp>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "base/random.h"
#include "peer/snapshot_check.h"
#include "tests/base/manual_clock.h"
#include "tests/peer/reference_snapshot.h"

namespace orlop {
namespace {

std::string joined(const SnapshotEncoder& encoder) {
  std::string bytes;
  for (const auto part : encoder.parts()) bytes += part;
  return bytes;
}

/// Strings in sections, as a test sets them.
class ListedStrings final : public SnapshotCollection {
 public:
  ListedStrings(std::string name, std::size_t sections)
      : contents(sections), revisions(sections, 1), name_(std::move(name)) {}

  std::string_view name() const override { return name_; }
  std::size_t section_count() const override { return contents.size(); }
  std::uint64_t revision(std::size_t section) const override { return revisions[section]; }
  std::uint64_t encode(std::size_t section, TextBuffer& out) override {
    ++encoded;
    std::string_view glue;
    for (const auto& text : contents[section]) {
      out.append(glue);
      out.append_json(std::string_view(text));
      glue = ",";
    }
    return revisions[section];
  }

  std::vector<std::vector<std::string>> contents;
  std::vector<std::uint64_t> revisions;
  int encoded = 0;

 private:
  std::string name_;
};

ReferenceCollection reference_of(const ListedStrings& list) {
  ReferenceCollection reference{.name = std::string(list.name()), .sections = {}};
  for (const auto& section : list.contents) {
    auto& elements = reference.sections.emplace_back();
    for (const auto& text : section) {
      TextBuffer one;
      one.append_json(std::string_view(text));
      elements.emplace_back(one.text());
    }
  }
  return reference;
}

TEST_CASE("snapshot encoder: collections without elements drop their field") {
  ManualClock clock;
  ListedStrings first("first", 3);
  ListedStrings second("second", 2);
  const std::array<SnapshotCollection*, 2> both{&first, &second};
  SnapshotEncoder encoder(both, clock);

  CHECK(encoder.encode(5));
  const auto nothing = joined(encoder);
  first.contents[1] = {"x"};
  first.revisions[1] = 2;
  CHECK(encoder.encode(6));

  CHECK(nothing.starts_with("{\"version\":1,\"saved_at\":5,\"sections\":[],\"checksum\":\""));
  CHECK(joined(encoder).starts_with("{\"version\":1,\"first\":[\"x\"],\"saved_at\":6,"));
  CHECK(check_snapshot(nothing));
  CHECK(check_snapshot(joined(encoder)));
}

TEST_CASE("snapshot encoder: only sections of another revision are encoded") {
  ManualClock clock;
  ListedStrings list("list", 10);
  for (auto& section : list.contents) section = {"a", "b"};
  const std::array<SnapshotCollection*, 1> one{&list};
  SnapshotEncoder encoder(one, clock);
  CHECK(encoder.encode(1));
  CHECK(list.encoded == 10);

  CHECK(!encoder.encode(2));
  CHECK(list.encoded == 10);

  list.contents[0].clear();  // The first one, behind whom the commas change.
  list.revisions[0] = 2;
  CHECK(encoder.encode(3));
  CHECK(list.encoded == 11);
  CHECK(joined(encoder) == reference_snapshot({reference_of(list)}, 3));
}

TEST_CASE("snapshot encoder: a change that nobody told is found after the expiry, and counted") {
  ManualClock clock;
  ListedStrings list("list", 2);
  const std::array<SnapshotCollection*, 1> one{&list};
  SnapshotEncoder encoder(one, clock, {.reencode_after = std::chrono::minutes(10)});
  encoder.encode(1);
  list.contents[1] = {"forgotten"};

  clock.advance(std::chrono::minutes(10) - std::chrono::nanoseconds(1));
  CHECK(!encoder.encode(2));
  CHECK(encoder.forgotten_changes() == 0);

  clock.advance(std::chrono::nanoseconds(1));
  CHECK(encoder.encode(3));
  CHECK(encoder.forgotten_changes() == 1);
  CHECK(joined(encoder) == reference_snapshot({reference_of(list)}, 3));
}

/// Strings as nobody would have them, and a few that everybody has.
std::string any_text(Random& random) {
  static const std::vector<std::string> kParts = {
      "\"",       "\\",           "\n",           "\x7f",
      "\x1f",     "\xe2\x80\xa8", "\xe2\x80\xa9", "\xf0\x9f\x9a\x80",
      "é",        "\xff",         "\xc3",         "\xed\xa0\x80",
      "checksum", "],\"",         "host-",        "0123456789abcdef"};
  std::string text;
  for (auto count = random.next() % 6; count > 0; --count)
    text += kParts[random.next() % kParts.size()];
  return text;
}

/// More rounds by hand: ORLOP_SNAPSHOT_ROUNDS=1000000 peer_tests '*plain encoder*'
TEST_CASE("snapshot encoder: after any changes its bytes are those of the plain encoder") {
  const auto* asked = std::getenv("ORLOP_SNAPSHOT_ROUNDS");
  const auto rounds = asked != nullptr ? std::stoul(asked) : 2000;
  const std::uint64_t seed = asked != nullptr ? std::random_device{}() : 11;
  INFO("seed " << seed);
  Random random(seed);
  ManualClock clock;
  ListedStrings first("first", 7);
  ListedStrings second("second", 5);
  const std::array<SnapshotCollection*, 2> both{&first, &second};
  SnapshotEncoder encoder(both, clock);
  for (std::size_t round = 0; round < rounds; ++round) {
    for (auto changes = random.next() % 4; changes > 0; --changes) {
      auto& list = random.next() % 2 == 0 ? first : second;
      const auto section = random.next() % list.section_count();
      auto& elements = list.contents[section];
      if (random.next() % 3 == 0) {
        elements.clear();
      } else {
        elements.push_back(any_text(random));
      }
      ++list.revisions[section];
    }
    if (!encoder.encode(round)) continue;
    const auto bytes = joined(encoder);
    if (bytes != reference_snapshot({reference_of(first), reference_of(second)}, round)) {
      FAIL("round " << round);
    }
    if (round % 100 == 0) {
      CHECK(nlohmann::json::accept(bytes));
      CHECK(check_snapshot(bytes));
    }
  }
}

TEST_CASE("snapshot encoder: any node is encoded as the plain encoder does") {
  const auto* asked = std::getenv("ORLOP_SNAPSHOT_ROUNDS");
  const auto rounds = asked != nullptr ? std::stoul(asked) : 20'000;
  const std::uint64_t seed = asked != nullptr ? std::random_device{}() : 12;
  INFO("seed " << seed);
  Random random(seed);
  TextBuffer buffer;
  for (std::size_t round = 0; round < rounds; ++round) {
    PeerNode node{.seen = peer_number(static_cast<std::uint32_t>(random.next())),
                  .first_seen = static_cast<PeerSeconds>(random.next() >> random.next() % 64),
                  .last_seen = static_cast<PeerSeconds>(random.next())};
    node.seen.ip = any_text(random);
    node.seen.port = static_cast<std::uint16_t>(random.next());
    node.seen.origin = random.next() % 2 == 0;
    node.seen.zone = any_text(random);
    node.seen.cluster = any_text(random);
    node.seen.version = any_text(random);
    for (auto tags = random.next() % 3; tags > 0; --tags) {
      node.seen.tags.emplace_back(any_text(random), any_text(random));
    }
    buffer.clear();
    append_json(buffer, node);
    if (buffer.text() != reference_json(node)) FAIL("round " << round);
  }
}

}  // namespace
}  // namespace orlop
