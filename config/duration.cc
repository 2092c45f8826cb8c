#include "config/duration.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace orlop {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

// The two spellings of "µ" are U+00B5 and U+03BC: keyboards differ, and Go takes both.
constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\u00b5s", 1'000},
                                         {"\u03bcs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits at the front of `text`, which shrinks by them.
std::string_view take_digits(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  const auto digits = text.substr(0, count);
  text.remove_prefix(count);
  return digits;
}

/// What stands before the next number.
std::string_view take_unit(std::string_view& text) {
  std::size_t count = 0;
  while (count < text.size() && !is_digit(text[count]) && text[count] != '.') ++count;
  const auto unit = text.substr(0, count);
  text.remove_prefix(count);
  return unit;
}

std::optional<std::int64_t> unit_nanoseconds(std::string_view name) {
  for (const auto& unit : kUnits) {
    if (unit.name == name) return unit.nanoseconds;
  }
  return std::nullopt;
}

std::optional<std::int64_t> whole_value(std::string_view digits) {
  std::int64_t value = 0;
  for (const char digit : digits) {
    if (__builtin_mul_overflow(value, 10, &value)) return std::nullopt;
    if (__builtin_add_overflow(value, digit - '0', &value)) return std::nullopt;
  }
  return value;
}

/// Go's order of operations, so that the same text gives the same nanosecond.
std::int64_t fraction_nanoseconds(std::string_view digits, std::int64_t unit) {
  std::int64_t fraction = 0;
  double scale = 1;
  for (const char digit : digits) {
    std::int64_t longer = 0;
    if (__builtin_mul_overflow(fraction, 10, &longer)) break;
    if (__builtin_add_overflow(longer, digit - '0', &longer)) break;
    fraction = longer;
    scale *= 10;
  }
  return static_cast<std::int64_t>(static_cast<double>(fraction) *
                                   (static_cast<double>(unit) / scale));
}

/// One number and its unit, from the front of `text`.
std::optional<std::int64_t> take_term(std::string_view& text) {
  const auto whole = take_digits(text);
  std::string_view fraction;
  if (text.starts_with('.')) {
    text.remove_prefix(1);
    fraction = take_digits(text);
  }
  if (whole.empty() && fraction.empty()) return std::nullopt;

  const auto unit = unit_nanoseconds(take_unit(text));
  if (!unit) return std::nullopt;
  auto value = whole_value(whole);
  if (!value) return std::nullopt;
  if (__builtin_mul_overflow(*value, *unit, &*value)) return std::nullopt;
  if (__builtin_add_overflow(*value, fraction_nanoseconds(fraction, *unit), &*value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text == "0") return std::chrono::nanoseconds(0);
  if (text.empty()) return std::nullopt;

  std::int64_t sum = 0;
  while (!text.empty()) {
    const auto term = take_term(text);
    if (!term) return std::nullopt;
    if (__builtin_add_overflow(sum, *term, &sum)) return std::nullopt;
  }
  return std::chrono::nanoseconds(negative ? -sum : sum);
}

std::string duration_text(std::chrono::nanoseconds duration) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 6> kWritten = {
      {{"h", 3'600'000'000'000},
       {"m", 60'000'000'000},
       {"s", 1'000'000'000},
       {"ms", 1'000'000},
       {"us", 1'000},
       {"ns", 1}}};
  std::string text;
  auto left = duration.count();
  for (const auto& [unit, nanoseconds] : kWritten) {
    if (left < nanoseconds) continue;
    text += std::to_string(left / nanoseconds);
    text += unit;
    left %= nanoseconds;
  }
  return text.empty() ? "0s" : text;
}

}  // namespace orlop
