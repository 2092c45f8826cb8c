#include "core/digest.h"

#include <algorithm>

#include "base/hex.h"
#include "core/quote.h"

namespace orlop {
namespace {

constexpr std::string_view kAlgorithm = "sha256";

Error refused(std::string detail) { return Error(Errc::invalid_argument, std::move(detail)); }

bool is_hex_of_any_case(char c) { return hex_value(c) || (c >= 'A' && c <= 'F'); }

/// A byte as Go's %#U prints it, which is how encoding/hex names the one it stumbled on:
/// "U+0067 'g'". A byte is taken for the Latin-1 character of that number, and shown if it prints.
std::string code_point(char c) {
  const auto byte = static_cast<std::uint8_t>(c);
  std::string hex = to_hex({&byte, 1});
  for (auto& digit : hex) {
    if (digit >= 'a') digit = static_cast<char>(digit - 'a' + 'A');
  }
  std::string text = "U+00" + hex;
  const bool is_ascii = byte >= 0x20 && byte <= 0x7e;
  const bool is_latin = byte >= 0xa1 && byte != 0xad;  // Not the no-break space, the soft hyphen.
  if (is_ascii) text += std::string(" '") + c + "'";
  if (is_latin) {
    text += " '";
    text += static_cast<char>(0xc0 | byte >> 6);  // UTF-8 (RFC 3629, section 3).
    text += static_cast<char>(0x80 | (byte & 0x3f));
    text += "'";
  }
  return text;
}

}  // namespace

Result<Digest> Digest::parse(std::string_view text) {
  if (text.empty()) return refused("invalid digest: empty");
  const auto colon = text.find(':');
  if (colon == std::string_view::npos || text.find(':', colon + 1) != std::string_view::npos) {
    return refused("invalid digest: expected '<algo>:<hex>'");
  }
  if (text.substr(0, colon) != kAlgorithm) return refused("invalid digest algo: expected sha256");
  return parse_hex(text.substr(colon + 1));
}

Result<Digest> Digest::parse_hex(std::string_view hex) {
  if (hex.size() != 2 * kBytes) {
    return refused("invalid sha256: expected 64 characters, got " + std::to_string(hex.size()) +
                   " from " + quote(hex));
  }
  std::array<std::uint8_t, kBytes> bytes;
  if (from_hex(hex, bytes)) return Digest(bytes);

  const auto stranger = std::find_if_not(hex.begin(), hex.end(), is_hex_of_any_case);
  if (stranger == hex.end()) return refused("invalid sha256: hex: upper case is not accepted");
  return refused("invalid sha256: hex: encoding/hex: invalid byte: " + code_point(*stranger));
}

std::string Digest::hex() const { return to_hex(bytes_); }

std::string Digest::to_string() const {
  std::string text(kAlgorithm);
  text += ':';
  text += hex();
  return text;
}

}  // namespace orlop
