#include "peer/text_buffer.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "base/json_writer.h"

namespace orlop {
namespace {

constexpr std::uint64_t kOnes = 0x0101010101010101;
constexpr std::uint64_t kTops = 0x8080808080808080;

/// Not 0 if one of eight bytes cannot stand in a JSON string as it is: a control byte, a quote, a
/// backslash, or the part of a sequence whose validity must be looked at. The usual test for a zero
/// byte and for a byte below n, several at a time ("Bit Twiddling Hacks", S. E. Anderson). It may
/// be wrong about a byte only if one below it is special, which is the same answer.
std::uint64_t to_look_at(std::uint64_t eight) {
  const auto quote = eight ^ kOnes * '"';
  const auto backslash = eight ^ kOnes * '\\';
  const auto below_blank = eight - kOnes * 0x20;
  return (below_blank | (quote - kOnes) | (backslash - kOnes) | eight) & kTops;
}

template <class Word>
Word load(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// Copies `text` to `to`; false if something in it needs a look, and then the copy is worth
/// nothing. One branch a text: a branch a word costs more than the copy of what is thrown away.
bool copy_plain(std::string_view text, char* to) {
  const char* from = text.data();
  const auto size = text.size();
  if (size >= 8) {
    std::uint64_t found = 0;
    // The last word overlaps the one before it, so there is no rest to go through byte by byte.
    for (std::size_t i = 0; i + 8 < size; i += 8) {
      const auto word = load<std::uint64_t>(from + i);
      found |= to_look_at(word);
      std::memcpy(to + i, &word, 8);
    }
    const auto last = load<std::uint64_t>(from + size - 8);
    std::memcpy(to + size - 8, &last, 8);
    return (found | to_look_at(last)) == 0;
  }
  if (size >= 4) {
    const auto first = load<std::uint32_t>(from);
    const auto last = load<std::uint32_t>(from + size - 4);
    std::memcpy(to, &first, 4);
    std::memcpy(to + size - 4, &last, 4);
    return to_look_at(static_cast<std::uint64_t>(first) << 32 | last) == 0;
  }
  for (std::size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<unsigned char>(from[i]);
    if (byte < 0x20 || byte >= 0x80 || byte == '"' || byte == '\\') return false;
    to[i] = from[i];
  }
  return true;
}

/// "00" to "99", for two digits at a time.
constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

/// "00" to "ff".
constexpr auto kHexPairs = [] {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, 512> pairs{};
  for (std::size_t i = 0; i < 256; ++i) {
    pairs[2 * i] = kDigits[i >> 4];
    pairs[2 * i + 1] = kDigits[i & 15];
  }
  return pairs;
}();

}  // namespace

void TextBuffer::append_json(std::string_view text) {
  char* at = room(text.size() + 2);
  if (copy_plain(text, at + 1)) {
    at[0] = '"';
    at[text.size() + 1] = '"';
    size_ += text.size() + 2;
    return;
  }
  escaped_.clear();
  append_json_string(escaped_, text);
  append(escaped_);
}

void TextBuffer::append_json(std::uint64_t number) {
  constexpr std::size_t kDigitsMax = 20;
  char* at = room(kDigitsMax);
  // Seconds since 1970 have ten digits until 2286: nearly all numbers that there are.
  if (number >= 1'000'000'000 && number < 10'000'000'000) {
    for (std::size_t i = 5; i-- > 0; number /= 100) {
      std::memcpy(at + 2 * i, kPairs.data() + 2 * (number % 100), 2);
    }
    size_ += 10;
    return;
  }
  size_ += static_cast<std::size_t>(std::to_chars(at, at + kDigitsMax, number).ptr - at);
}

void TextBuffer::append_hex(std::span<const std::uint8_t> bytes) {
  char* at = room(2 * bytes.size());
  for (const auto byte : bytes) {
    std::memcpy(at, kHexPairs.data() + std::size_t{2} * byte, 2);
    at += 2;
  }
  size_ += 2 * bytes.size();
}

void TextBuffer::grow(std::size_t bytes) {
  const auto capacity = std::max({size_ + bytes, capacity_ * 2, std::size_t{4096}});
  // Not make_unique: it would fill the room with zeros.
  std::unique_ptr<char[]> larger(new char[capacity]);
  if (size_ > 0) std::memcpy(larger.get(), bytes_.get(), size_);
  bytes_ = std::move(larger);
  capacity_ = capacity;
}

}  // namespace orlop
