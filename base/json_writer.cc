#include "base/json_writer.h"

#include <array>
#include <charconv>

namespace orlop {
namespace {

constexpr char kDigits[] = "0123456789abcdef";

/// The length of the valid UTF-8 sequence at the start of `text`, or 0 (RFC 3629, section 4: no
/// overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i, unsigned char low = 0x80, unsigned char high = 0xbf) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const auto lead = byte(0);
  if (lead < 0x80) return 1;
  if (lead >= 0xc2 && lead <= 0xdf) return continues(1) ? 2 : 0;
  if (lead >= 0xe0 && lead <= 0xef) {
    const auto low = static_cast<unsigned char>(lead == 0xe0 ? 0xa0 : 0x80);
    const auto high = static_cast<unsigned char>(lead == 0xed ? 0x9f : 0xbf);
    return continues(1, low, high) && continues(2) ? 3 : 0;
  }
  if (lead >= 0xf0 && lead <= 0xf4) {
    const auto low = static_cast<unsigned char>(lead == 0xf0 ? 0x90 : 0x80);
    const auto high = static_cast<unsigned char>(lead == 0xf4 ? 0x8f : 0xbf);
    return continues(1, low, high) && continues(2) && continues(3) ? 4 : 0;
  }
  return 0;
}

void append_ascii(std::string& out, unsigned char c, JsonEscape escape) {
  const bool escaped_for_html = c == '<' || c == '>' || c == '&';
  switch (c) {
    case '"': out += "\\\""; return;
    case '\\': out += "\\\\"; return;
    case '\b': out += "\\b"; return;
    case '\f': out += "\\f"; return;
    case '\n': out += "\\n"; return;
    case '\r': out += "\\r"; return;
    case '\t': out += "\\t"; return;
    default: break;
  }
  if (c >= 0x20 && !(escape == JsonEscape::html && escaped_for_html)) {
    out += static_cast<char>(c);
    return;
  }
  out += "\\u00";
  out += kDigits[c >> 4];
  out += kDigits[c & 15];
}

template <class Number>
void append_number(std::string& out, Number number) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number).ptr;
  out.append(text.data(), end);
}

}  // namespace

void append_json_string(std::string& out, std::string_view text, JsonEscape escape) {
  out += '"';
  while (!text.empty()) {
    const auto length = utf8_length(text);
    if (length == 0) {
      out += "\\ufffd";
      text.remove_prefix(1);
      continue;
    }
    const auto sequence = text.substr(0, length);
    if (length == 1) {
      append_ascii(out, static_cast<unsigned char>(text[0]), escape);
    } else if (sequence == "\xe2\x80\xa8") {  // U+2028 ends a line in JavaScript.
      out += "\\u2028";
    } else if (sequence == "\xe2\x80\xa9") {  // U+2029 too.
      out += "\\u2029";
    } else {
      out += sequence;
    }
    text.remove_prefix(length);
  }
  out += '"';
}

void append_json_number(std::string& out, std::int64_t number) { append_number(out, number); }
void append_json_number(std::string& out, std::uint64_t number) { append_number(out, number); }

}  // namespace orlop
