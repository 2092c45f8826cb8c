#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace orlop {

/// How strings are escaped.
enum class JsonEscape : std::uint8_t {
  plain,  ///< As Go's encoding/json with HTML escaping off: `<` stays `<`.
  html,   ///< As Go's default: `<`, `>` and `&` become \u003c, \u003e, \u0026.
};

/// Appends `text` to `out` as a JSON string, quotes included, byte for byte as Go's encoding/json
/// does: short escapes for \b \f \n \r \t, \u00XX for other control bytes, U+2028 and U+2029
/// escaped, each invalid UTF-8 byte replaced by \ufffd (tests/golden/json_strings.json).
void append_json_string(std::string& out, std::string_view text,
                        JsonEscape escape = JsonEscape::plain);

void append_json_number(std::string& out, std::int64_t number);
void append_json_number(std::string& out, std::uint64_t number);

}  // namespace orlop
