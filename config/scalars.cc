#include "config/scalars.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>

#include "config/duration.h"
#include "config/size.h"

namespace orlop {
namespace {

using Words = std::array<std::string_view, 11>;

constexpr Words kTrue = {"y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"};
constexpr Words kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                          "False", "FALSE", "off", "Off", "OFF"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_plain(const Node& node) {
  return node.kind == Node::Kind::scalar && !node.quoted && !node.text.empty();
}

bool is_among(const Words& words, const std::string& text) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// Go's base prefixes: 0x, 0b, 0o, and a bare 0 for octal.
int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = digits[1];
  const int base = letter == 'x' || letter == 'X' ? 16 : letter == 'b' || letter == 'B' ? 2 : 8;
  const bool bare = base == 8 && letter != 'o' && letter != 'O';
  digits.remove_prefix(bare ? 1 : 2);
  return base;
}

std::optional<std::int64_t> read_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const int base = take_base(text);
  if (text.empty() || text.front() == '-') return std::nullopt;

  // Signed last, so that the least integer is not out of range.
  const std::string digits = (negative ? "-" : "") + std::string(text);
  std::int64_t value = 0;
  const auto* end = digits.data() + digits.size();
  const auto [stopped, failed] = std::from_chars(digits.data(), end, value, base);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return value;
}

std::optional<double> read_float(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  const auto unsigned_text = text.substr(text.starts_with('-') ? 1 : 0);
  // from_chars knows "inf" and "nan" too; here a number begins with a digit or a point.
  if (unsigned_text.empty()) return std::nullopt;
  if (!is_digit(unsigned_text.front()) && unsigned_text.front() != '.') return std::nullopt;

  double value = 0;
  const auto* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed != std::errc() || stopped != end) return std::nullopt;
  return value;
}

/// Without the underscores; nothing if the first character cannot begin a number.
std::optional<std::string> number_text(const Node& node) {
  if (!is_plain(node)) return std::nullopt;
  const char first = node.text.front();
  if (!is_digit(first) && first != '-' && first != '+' && first != '.') return std::nullopt;
  auto text = node.text;
  std::erase(text, '_');
  return text;
}

}  // namespace

std::optional<bool> as_boolean(const Node& node) {
  if (!is_plain(node)) return std::nullopt;
  if (is_among(kTrue, node.text)) return true;
  if (is_among(kFalse, node.text)) return false;
  return std::nullopt;
}

std::optional<std::int64_t> as_integer(const Node& node) {
  const auto text = number_text(node);
  if (!text) return std::nullopt;
  if (const auto value = read_integer(*text)) return value;

  const auto value = read_float(*text);
  constexpr double kLimit = 9223372036854775808.0;  // 2^63, the least that does not fit.
  if (!value || *value >= kLimit || *value < -kLimit) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::optional<double> as_number(const Node& node) {
  const auto text = number_text(node);
  if (!text) return std::nullopt;
  if (const auto value = read_integer(*text)) return static_cast<double>(*value);
  return read_float(*text);
}

std::optional<std::chrono::nanoseconds> as_duration(const Node& node) {
  if (node.kind != Node::Kind::scalar) return std::nullopt;
  if (const auto value = as_integer(node)) return std::chrono::nanoseconds(*value);
  return parse_duration(node.text);
}

std::optional<std::uint64_t> as_size(const Node& node) {
  if (node.kind != Node::Kind::scalar) return std::nullopt;
  return parse_size(node.text);
}

}  // namespace orlop
