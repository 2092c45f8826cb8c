#include "tests/peer/reference_snapshot.h"

#include "base/hex.h"
#include "base/json_writer.h"
#include "core/digester.h"

namespace orlop {
namespace {

std::string json(const std::string& text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

std::string reference_json(const PeerNode& node) {
  const auto& seen = node.seen;
  std::string out = "{\"peer\":" + json(seen.id.hex());
  out += ",\"ip\":" + json(seen.ip);
  out += ",\"port\":" + std::to_string(seen.port);
  if (!seen.zone.empty()) out += ",\"zone\":" + json(seen.zone);
  if (!seen.cluster.empty()) out += ",\"cluster\":" + json(seen.cluster);
  if (seen.origin) out += ",\"origin\":true";
  out += ",\"first_seen\":" + std::to_string(node.first_seen);
  out += ",\"last_seen\":" + std::to_string(node.last_seen);
  if (!seen.version.empty()) out += ",\"version\":" + json(seen.version);
  if (!seen.tags.empty()) {
    out += ",\"tags\":{";
    for (std::size_t i = 0; i < seen.tags.size(); ++i) {
      out += (i == 0 ? "" : ",") + json(seen.tags[i].first) + ":" + json(seen.tags[i].second);
    }
    out += "}";
  }
  return out + "}";
}

std::string reference_snapshot(const std::vector<ReferenceCollection>& collections,
                               std::uint64_t saved_at) {
  std::string out = "{\"version\":1";
  std::string rows;
  for (const auto& collection : collections) {
    std::string array;
    for (const auto& elements : collection.sections) {
      std::string section;
      for (const auto& element : elements) section += (section.empty() ? "" : ",") + element;
      if (section.empty()) continue;
      array += (array.empty() ? "" : ",") + section;
      rows += (rows.empty() ? "[\"" : ",[\"") + collection.name + "\"," +
              std::to_string(section.size()) + ",\"" + digest_of(section).hex() + "\"]";
    }
    if (!array.empty()) out += ",\"" + collection.name + "\":[" + array + "]";
  }
  const auto tail = ",\"saved_at\":" + std::to_string(saved_at) + ",\"sections\":[" + rows + "]";
  const auto checksum = digest_of("orlop snapshot v1\n" + tail).hex();
  return out + tail + ",\"checksum\":\"" + checksum + "\"}\n";
}

NodeSighting peer_number(std::uint32_t number) {
  const auto ip = "10." + std::to_string(number >> 16 & 255) + "." +
                  std::to_string(number >> 8 & 255) + "." + std::to_string(number & 255);
  return {.id = PeerId::from_address(ip, 16001),
          .ip = ip,
          .port = 16001,
          .zone = {},
          .cluster = {},
          .version = {},
          .tags = {}};
}

InfoHash infohash_number(std::uint32_t number) {
  return InfoHash(PeerId::from_address("blob", static_cast<std::uint16_t>(number)).bytes());
}

}  // namespace orlop
