#pragma once

#include <algorithm>
#include <string_view>

namespace orlop {

/// The lower-case form of an ASCII letter; every other byte as it is, whatever the locale.
constexpr char ascii_lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// Whether two texts are equal but for the case of ASCII letters.
constexpr bool equal_ignoring_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char a, char b) { return ascii_lower(a) == ascii_lower(b); });
}

}  // namespace orlop
