#include "core/quote.h"

#include <cstdint>

#include "base/hex.h"

namespace orlop {
namespace {

void append_quoted(std::string& out, char c) {
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\a': out += "\\a"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    case '\v': out += "\\v"; return;
    default: break;
  }
  if (c >= 0x20 && c <= 0x7e) {
    out += c;
    return;
  }
  const auto byte = static_cast<std::uint8_t>(c);
  out += "\\x";
  out += to_hex({&byte, 1});
}

}  // namespace

std::string quote(std::string_view untrusted) {
  std::string out = "\"";
  for (const char c : untrusted.substr(0, kQuoteBytesMax)) append_quoted(out, c);
  out += untrusted.size() > kQuoteBytesMax ? "...\"" : "\"";
  return out;
}

}  // namespace orlop
