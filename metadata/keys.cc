#include "metadata/keys.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace orlop {

std::optional<Digest> digest_from_key(std::string_view key) {
  if (key.size() != Digest::kBytes) return std::nullopt;
  std::array<std::uint8_t, Digest::kBytes> bytes;
  std::copy(key.begin(), key.end(), bytes.begin());
  return Digest(bytes);
}

void append_u32(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(number >> shift & 0xff);
}

std::uint32_t read_u32(std::string_view bytes) {
  ORLOP_CHECK(bytes.size() >= 4);
  std::uint32_t number = 0;
  for (std::size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<std::uint8_t>(bytes[i]);
  return number;
}

std::string access_key(std::uint32_t hour, const Digest& digest) {
  std::string key;
  append_u32(key, hour);
  key += digest_key(digest);
  return key;
}

std::string task_prefix(TaskKind kind, const Digest& digest) {
  std::string key(1, static_cast<char>(kind));
  key += digest_key(digest);
  return key;
}

std::string task_key(TaskKind kind, const Digest& digest, std::string_view name_space) {
  auto key = task_prefix(kind, digest);
  key += name_space;
  return key;
}

std::string last_group_key(std::uint32_t committer) {
  std::string key(kLastGroupPrefix);
  append_u32(key, committer);
  return key;
}

}  // namespace orlop
