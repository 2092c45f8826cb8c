#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>

#include "base/check.h"
#include "base/hex.h"

namespace orlop {

/// A file of tests/golden, parsed. Stops the test program if it is not there.
inline nlohmann::json golden(const std::string& name) {
  std::ifstream file(ORLOP_GOLDEN_DIR "/" + name);
  ORLOP_CHECK(file.good());
  return nlohmann::json::parse(file);
}

inline std::string bytes_of_hex(const std::string& hex) {
  std::string bytes(hex.size() / 2, '\0');
  ORLOP_CHECK(from_hex(hex, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()}));
  return bytes;
}

/// The "pattern" content of metainfo.json: byte i = (7*i + i/251 + 3) mod 256.
inline std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(7 * i + i / 251 + 3);
  return bytes;
}

inline std::span<const std::byte> as_byte_span(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace orlop
