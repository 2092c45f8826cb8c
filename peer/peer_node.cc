#include "peer/peer_node.h"

#include <string_view>

#include "core/utf8.h"

namespace orlop {
namespace {

Error refused(std::string_view what) {
  return Error(Errc::invalid_argument, "peer: " + std::string(what));
}

void append_field(TextBuffer& out, std::string_view name, std::string_view value) {
  if (value.empty()) return;
  out.append(name);
  out.append_json(value);
}

}  // namespace

Result<> check(const NodeSighting& sighting) {
  if (sighting.ip.empty()) return refused("no ip");
  if (sighting.port == 0) return refused("no port");
  for (const auto* text : {&sighting.ip, &sighting.zone, &sighting.cluster, &sighting.version}) {
    if (text->size() > kNodeTextBytesMax) return refused("a text is too long");
    // Else a snapshot of it would be another text, and maybe a longer one.
    if (!is_utf8(*text)) return refused("a text is not UTF-8");
  }
  if (sighting.tags.size() > kNodeTagsMax) return refused("too many tags");
  const std::string* before = nullptr;
  for (const auto& [name, value] : sighting.tags) {
    if (name.size() > kNodeTextBytesMax) return refused("a tag's name is too long");
    if (value.size() > kNodeTextBytesMax) return refused("a tag is too long");
    if (!is_utf8(name) || !is_utf8(value)) return refused("a tag is not UTF-8");
    if (before != nullptr && name <= *before) return refused("tags are not in order");
    before = &name;
  }
  return {};
}

void append_json(TextBuffer& out, const PeerNode& node) {
  const auto& seen = node.seen;
  out.append("{\"peer\":\"");
  out.append_hex(seen.id.bytes());
  out.append("\",\"ip\":");
  out.append_json(std::string_view(seen.ip));
  out.append(",\"port\":");
  out.append_json(std::uint64_t{seen.port});
  append_field(out, ",\"zone\":", seen.zone);
  append_field(out, ",\"cluster\":", seen.cluster);
  if (seen.origin) out.append(",\"origin\":true");
  out.append(",\"first_seen\":");
  out.append_json(std::uint64_t{node.first_seen});
  out.append(",\"last_seen\":");
  out.append_json(std::uint64_t{node.last_seen});
  append_field(out, ",\"version\":", seen.version);
  if (!seen.tags.empty()) {
    std::string_view glue = ",\"tags\":{";
    for (const auto& [name, value] : seen.tags) {
      out.append(glue);
      out.append_json(std::string_view(name));
      out.append(":");
      out.append_json(std::string_view(value));
      glue = ",";
    }
    out.append("}");
  }
  out.append("}");
}

}  // namespace orlop
