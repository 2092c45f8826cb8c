#include "core/upload_id.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/hex.h"
#include "core/digester.h"
#include "core/quote.h"

namespace orlop {
namespace {

constexpr std::size_t kDash = 32;

bool is_well_formed(std::string_view text) {
  if (text.size() != UploadId::kTextBytes) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == kDash ? text[i] != '-' : !hex_value(text[i])) return false;
  }
  return true;
}

}  // namespace

Result<UploadId> UploadId::parse(std::string_view text) {
  if (is_well_formed(text)) return UploadId(std::string(text));
  return Error(Errc::invalid_argument, "invalid upload id " + quote(text));
}

UploadId UploadId::make(Random& random, std::string_view ring_label) {
  std::array<std::uint8_t, kDash / 2> chance;
  random.fill(chance);
  const auto node = digest_of(ring_label);
  return UploadId(to_hex(chance) + "-" + to_hex(std::span(node.bytes()).first<4>()));
}

}  // namespace orlop
