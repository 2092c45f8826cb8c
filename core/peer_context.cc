#include "core/peer_context.h"

#include "base/json_writer.h"

namespace orlop {

std::string to_json(const PeerContext& context) {
  std::string out = "{\"ip\":";
  append_json_string(out, context.ip, JsonEscape::html);
  out += ",\"port\":";
  append_json_number(out, std::uint64_t{context.port});
  out += ",\"peer_id\":";
  auto separator = '[';
  for (const auto byte : context.peer_id.bytes()) {
    out += separator;
    append_json_number(out, std::uint64_t{byte});
    separator = ',';
  }
  out += "],\"zone\":";
  append_json_string(out, context.zone, JsonEscape::html);
  out += ",\"cluster\":";
  append_json_string(out, context.cluster, JsonEscape::html);
  out += context.origin ? ",\"origin\":true}" : ",\"origin\":false}";
  return out;
}

}  // namespace orlop
