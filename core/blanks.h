#pragma once

#include <string_view>

namespace orlop {

/// `text` without the spaces and tabs around it: the optional white space of HTTP (RFC 9110,
/// section 5.6.3).
inline std::string_view without_blanks(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

}  // namespace orlop
