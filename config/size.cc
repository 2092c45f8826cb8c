#include "config/size.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace orlop {
namespace {

/// Powers of 1024, from kilo on. The long names of exa do not exist in the original.
constexpr std::array<std::string_view, 6> kLongNames = {"kilo", "mega", "giga", "tera", "peta", ""};
constexpr std::string_view kLetters = "kmgtpe";

bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

bool names_bits(std::string_view unit) {
  return unit.size() == 2 && unit[1] == 'b' && unit[0] >= 'A' && unit[0] <= 'Z' &&
         kLetters.find(static_cast<char>(unit[0] - 'A' + 'a')) != std::string_view::npos;
}

/// The unit as a shift: 0, 10, … 60.
std::optional<unsigned> unit_shift(std::string_view unit) {
  if (names_bits(unit)) return std::nullopt;
  const auto name = lower(unit);
  if (name.empty() || name == "b" || name == "byte") return 0;
  for (unsigned power = 0; power < kLetters.size(); ++power) {
    const std::string letter(1, kLetters[power]);
    const std::string word(kLongNames[power]);
    const bool is_short = name == letter || name == letter + "b";
    const bool is_long =
        !word.empty() && (name == word || name == word + "byte" || name == word + "bytes");
    if (is_short || is_long) return (power + 1) * 10;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  std::uint64_t value = 0;
  const auto* begin = text.data();
  const auto [end, failed] = std::from_chars(begin, begin + text.size(), value);
  if (failed != std::errc()) return std::nullopt;

  const auto shift = unit_shift(trimmed(text.substr(static_cast<std::size_t>(end - begin))));
  if (!shift) return std::nullopt;
  if (value > (~std::uint64_t{0} >> *shift)) return std::nullopt;
  return value << *shift;
}

std::string size_text(std::uint64_t bytes) {
  std::size_t power = 0;
  while (bytes > 0 && bytes % 1024 == 0 && power < kLetters.size()) {
    bytes /= 1024;
    ++power;
  }
  auto text = std::to_string(bytes);
  if (power == 0) return text;
  text += static_cast<char>(kLetters[power - 1] - 'a' + 'A');
  return text + "B";
}

}  // namespace orlop
