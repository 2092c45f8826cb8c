#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace orlop {

/// Bytes that grow at the end and are used again: `clear` keeps the memory, so whoever encodes the
/// same thing every few seconds allocates only while it grows. Unlike std::string it hands out room
/// that is not filled with zeros first, which is a third of the time of an encoder.
///
/// One thread at a time. Texts that it gave are good until the next call that appends.
class TextBuffer {
 public:
  std::string_view text() const { return {bytes_.get(), size_}; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  void clear() { size_ = 0; }

  void append(std::string_view text) {
    char* at = room(text.size());
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    size_ += text.size();
  }

  /// `text` as a JSON string, byte for byte as `append_json_string` (base/json_writer.h), of which
  /// this is the fast way for what needs no escape.
  void append_json(std::string_view text);
  void append_json(std::uint64_t number);
  /// Lower-case hex digits, without quotes.
  void append_hex(std::span<const std::uint8_t> bytes);

 private:
  /// Where at least `bytes` may be written; they count once `size_` says so.
  char* room(std::size_t bytes) {
    if (capacity_ - size_ < bytes) grow(bytes);
    return bytes_.get() + size_;
  }
  void grow(std::size_t bytes);

  std::unique_ptr<char[]> bytes_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  std::string escaped_;  ///< For the slow way.
};

}  // namespace orlop
