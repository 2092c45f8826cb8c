#include "peer/protobuf_fields.h"

#include <limits>

namespace orlop {
namespace {

enum WireType : std::uint32_t { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

constexpr std::uint32_t kNumberMax = (1U << 29) - 1;

void append_varint(std::string& message, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) message += static_cast<char>(value | 0x80);
  message += static_cast<char>(value);
}

void append_tag(std::string& message, std::uint32_t number, WireType type) {
  append_varint(message, std::uint64_t{number} << 3 | type);
}

}  // namespace

std::optional<ProtobufField> ProtobufFields::fail() {
  malformed_ = true;
  left_ = {};
  return std::nullopt;
}

std::optional<std::uint64_t> ProtobufFields::take_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (left_.empty()) return std::nullopt;
    const auto byte = static_cast<unsigned char>(left_.front());
    left_.remove_prefix(1);
    if (shift == 63 && byte > 1) return std::nullopt;  // Beyond 64 bits.
    value |= std::uint64_t{byte & 0x7fU} << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

std::optional<std::string_view> ProtobufFields::take(std::uint64_t count) {
  if (count > left_.size()) return std::nullopt;
  const auto bytes = left_.substr(0, static_cast<std::size_t>(count));
  left_.remove_prefix(bytes.size());
  return bytes;
}

std::optional<ProtobufField> ProtobufFields::next() {
  if (left_.empty()) return std::nullopt;
  const auto tag = take_varint();
  if (!tag || *tag >> 3 == 0 || *tag >> 3 > kNumberMax) return fail();
  ProtobufField field;
  field.number = static_cast<std::uint32_t>(*tag >> 3);
  switch (*tag & 7) {
    case kVarint:
      field.varint = take_varint();
      if (!field.varint) return fail();
      return field;
    case kBytes: {
      const auto length = take_varint();
      if (length) field.bytes = take(*length);
      if (!field.bytes) return fail();
      return field;
    }
    case kFixed64:
      if (!take(8)) return fail();
      return field;
    case kFixed32:
      if (!take(4)) return fail();
      return field;
    default: return fail();
  }
}

void append_protobuf(std::string& message, std::uint32_t number, std::uint64_t value) {
  if (value == 0) return;
  append_tag(message, number, kVarint);
  append_varint(message, value);
}

void append_protobuf(std::string& message, std::uint32_t number, std::string_view bytes) {
  if (!bytes.empty()) append_protobuf_submessage(message, number, bytes);
}

void append_protobuf_submessage(std::string& message, std::uint32_t number,
                                std::string_view submessage) {
  append_tag(message, number, kBytes);
  append_varint(message, submessage.size());
  message += submessage;
}

}  // namespace orlop
