#include "server/request.h"

#include <algorithm>

#include "core/utf8.h"

namespace orlop {
namespace {

int digit_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// One argument of a query, as sent.
struct Argument {
  std::string_view name;
  std::string_view value;
};

/// Takes the first argument off what is left of a query.
Argument take_argument(std::string_view& query) {
  const auto one = query.substr(0, query.find('&'));
  query.remove_prefix(std::min(query.size(), one.size() + 1));
  const auto equals = one.find('=');
  return {one.substr(0, equals),
          equals == std::string_view::npos ? std::string_view() : one.substr(equals + 1)};
}

}  // namespace

std::optional<std::string_view> Request::field(std::string_view name) const {
  for (const auto& [field_name, value] : fields) {
    if (equal_ignoring_case(field_name, name)) return value;
  }
  return std::nullopt;
}

std::size_t Request::count(std::string_view name) const {
  return static_cast<std::size_t>(std::count_if(fields.begin(), fields.end(), [&](const auto& f) {
    return equal_ignoring_case(f.first, name);
  }));
}

std::optional<std::string> Request::argument(std::string_view name) const {
  std::string_view left = query;
  while (!left.empty()) {
    const auto [argument_name, value] = take_argument(left);
    if (argument_name == name) return percent_decoded(value);
  }
  return std::nullopt;
}

std::size_t Request::argument_count(std::string_view name) const {
  std::size_t count = 0;
  std::string_view left = query;
  while (!left.empty()) {
    if (take_argument(left).name == name) ++count;
  }
  return count;
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string decoded;
  decoded.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      decoded += text[i];
      continue;
    }
    if (text.size() - i < 3) return std::nullopt;
    const int high = digit_value(text[i + 1]);
    const int low = digit_value(text[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    decoded += static_cast<char>(high << 4 | low);
    i += 2;
  }
  if (decoded.find('\0') != std::string::npos || !is_utf8(decoded)) return std::nullopt;
  return decoded;
}

}  // namespace orlop
