// The one place where simdjson reads snapshots: the DOM, because the on-demand parser does not
// validate what it skips. Section by section, so that its memory stays in the cache.

#include "peer/registry_facts.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string_view>
#include <utility>

#include "base/hex.h"

namespace orlop {
namespace {

namespace dom = simdjson::dom;

Error refused(std::string_view what) {
  return Error(Errc::corrupt, "snapshot: " + std::string(what));
}

bool read_number(dom::element value, PeerSeconds& out) {
  std::uint64_t number = 0;
  if (value.get(number) || number > std::numeric_limits<PeerSeconds>::max()) return false;
  out = static_cast<PeerSeconds>(number);
  return true;
}

bool read_text(dom::element value, std::string& out) {
  std::string_view text;
  if (value.get(text)) return false;
  out = text;
  return true;
}

bool read_tags(dom::element value, NodeSighting& seen) {
  dom::object tags;
  if (value.get(tags)) return false;
  for (const auto& [name, tag] : tags) {
    std::string text;
    if (!read_text(tag, text)) return false;
    seen.tags.emplace_back(name, std::move(text));
  }
  return true;
}

bool read_field(std::string_view name, dom::element value, PeerNode& node, bool& has_peer) {
  if (name == "peer") {
    std::string_view hex;
    if (value.get(hex)) return false;
    const auto id = PeerId::parse(hex);
    if (!id) return false;
    node.seen.id = *id;
    has_peer = true;
    return true;
  }
  if (name == "port") {
    std::uint64_t port = 0;
    if (value.get(port) || port > std::numeric_limits<std::uint16_t>::max()) return false;
    node.seen.port = static_cast<std::uint16_t>(port);
    return true;
  }
  if (name == "ip") return read_text(value, node.seen.ip);
  if (name == "zone") return read_text(value, node.seen.zone);
  if (name == "cluster") return read_text(value, node.seen.cluster);
  if (name == "version") return read_text(value, node.seen.version);
  if (name == "origin") return !value.get(node.seen.origin);
  if (name == "first_seen") return read_number(value, node.first_seen);
  if (name == "last_seen") return read_number(value, node.last_seen);
  if (name == "tags") return read_tags(value, node.seen);
  return false;
}

Result<> read_nodes(dom::array elements, std::vector<PeerNode>& out) {
  for (const dom::element element : elements) {
    dom::object fields;
    if (element.get(fields)) return refused("a node is not an object");
    PeerNode node{
        .seen = {.id = PeerId({}), .ip = {}, .zone = {}, .cluster = {}, .version = {}, .tags = {}}};
    bool has_peer = false;
    for (const auto& [name, value] : fields) {
      if (!read_field(name, value, node, has_peer)) {
        return refused("a node's field is not as it has to be: " + std::string(name));
      }
    }
    if (!has_peer) return refused("a node without a peer id");
    if (auto valid = check(node.seen); !valid) return refused(valid.error().detail());
    out.push_back(std::move(node));
  }
  return {};
}

/// The value of each byte as a lower-case hex digit, 255 if it is none: base/hex.h says so too, but
/// a snapshot has hundreds of millions of them.
constexpr auto kHexValues = [] {
  std::array<std::uint8_t, 256> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = hex_value(static_cast<char>(i)).value_or(255);
  }
  return values;
}();

/// Pre: two digits a byte.
bool read_hex(const char* digits, std::span<std::uint8_t> bytes) {
  std::uint8_t bad = 0;
  for (auto& byte : bytes) {
    const auto high = kHexValues[static_cast<unsigned char>(*digits++)];
    const auto low = kHexValues[static_cast<unsigned char>(*digits++)];
    bad = static_cast<std::uint8_t>(bad | high | low);
    byte = static_cast<std::uint8_t>(high << 4 | low);
  }
  return bad < 16;
}

/// "<40 hex digits>:<40 hex digits>:<0 or 1>"
Result<> read_pairs(dom::array elements, std::vector<PairShard::Fact>& out) {
  constexpr std::size_t kDigits = 40;
  for (const dom::element element : elements) {
    std::string_view text;
    if (element.get(text)) return refused("a pair is not a string");
    std::array<std::uint8_t, InfoHash::kBytes> infohash;
    std::array<std::uint8_t, PeerId::kBytes> peer;
    const bool good = text.size() == 2 * kDigits + 3 && text[kDigits] == ':' &&
                      text[2 * kDigits + 1] == ':' && (text.back() == '0' || text.back() == '1') &&
                      read_hex(text.data(), infohash) && read_hex(text.data() + kDigits + 1, peer);
    if (!good) return refused("a pair is not as it has to be");
    out.push_back({InfoHash(infohash), PeerId(peer), text.back() == '1'});
  }
  return {};
}

}  // namespace

std::size_t snapshot_padding_bytes() { return simdjson::SIMDJSON_PADDING; }

Result<RegistryFacts> parse_registry(std::string& bytes) {
  if (bytes.size() < simdjson::SIMDJSON_PADDING) return refused("cut");
  const auto contents =
      check_snapshot(std::string_view(bytes).substr(0, bytes.size() - snapshot_padding_bytes()));
  if (!contents) return contents.error();

  RegistryFacts facts;
  dom::parser parser;
  for (const auto& section : contents->sections) {
    // With brackets in the place of what stands around it, a section is an array by itself.
    char& before = bytes[section.offset - 1];
    char& behind = bytes[section.offset + section.length_bytes];
    const char was_before = std::exchange(before, '[');
    const char was_behind = std::exchange(behind, ']');
    constexpr bool kCopy = false;
    dom::element root;
    const auto error = parser.parse(&before, section.length_bytes + 2, kCopy).get(root);
    before = was_before;
    behind = was_behind;
    if (error == simdjson::MEMALLOC) return Error(Errc::busy, "no memory to read a snapshot");
    dom::array elements;
    if (error || root.get(elements)) return refused("a section is not JSON");
    auto read = section.collection == "nodes"   ? read_nodes(elements, facts.nodes)
                : section.collection == "pairs" ? read_pairs(elements, facts.pairs)
                                                : Result<>(refused("an unknown collection"));
    if (!read) return std::move(read).error();
  }
  return facts;
}

std::size_t restore(PeerRegistry& registry, RegistryFacts facts) {
  // The registry keeps its nodes in this order, so that it finds those whose time is over.
  std::stable_sort(facts.nodes.begin(), facts.nodes.end(),
                   [](const PeerNode& a, const PeerNode& b) { return a.last_seen < b.last_seen; });
  std::size_t left_out = 0;
  for (const auto& node : facts.nodes) {
    if (!registry.restore(node)) ++left_out;
  }
  for (const auto& pair : facts.pairs) {
    if (!registry.restore(pair.infohash, pair.peer, pair.complete)) ++left_out;
  }
  return left_out;
}

}  // namespace orlop
