#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string_view>

#include "base/check.h"

namespace orlop {

/// What a MessagePack value is, told by its first byte.
enum class MsgpackKind : std::uint8_t {
  nil,
  boolean,
  integer,
  floating,  ///< Of 32 or 64 bits.
  str,
  bin,
  array,
  map,
  ext,   ///< A type and bytes. A timestamp is one, of type -1.
  none,  ///< No value: the bytes are over, the reader has failed, or the byte is never used.
};

/// The first bytes of MessagePack's values and the classes that they form
/// (github.com/msgpack/msgpack/blob/master/spec.md, "Overview").
struct MsgpackCode {
  static constexpr std::uint8_t kFixMap = 0x80, kFixArray = 0x90, kFixStr = 0xa0;
  static constexpr std::uint8_t kNil = 0xc0, kNeverUsed = 0xc1, kFalse = 0xc2, kTrue = 0xc3;
  static constexpr std::uint8_t kBin8 = 0xc4, kBin16 = 0xc5, kBin32 = 0xc6;
  static constexpr std::uint8_t kExt8 = 0xc7, kExt16 = 0xc8, kExt32 = 0xc9;
  static constexpr std::uint8_t kFloat32 = 0xca, kFloat64 = 0xcb;
  static constexpr std::uint8_t kUint8 = 0xcc, kUint16 = 0xcd, kUint32 = 0xce, kUint64 = 0xcf;
  static constexpr std::uint8_t kInt8 = 0xd0, kInt16 = 0xd1, kInt32 = 0xd2, kInt64 = 0xd3;
  static constexpr std::uint8_t kFixExt1 = 0xd4, kFixExt16 = 0xd8;
  static constexpr std::uint8_t kStr8 = 0xd9, kStr16 = 0xda, kStr32 = 0xdb;
  static constexpr std::uint8_t kArray16 = 0xdc, kArray32 = 0xdd, kMap16 = 0xde, kMap32 = 0xdf;
  static constexpr std::uint8_t kNegativeFixInt = 0xe0;
  static constexpr std::int8_t kTimestampType = -1;

  static constexpr bool is_positive_fixint(std::uint8_t code) { return code < kFixMap; }
  static constexpr bool is_negative_fixint(std::uint8_t code) { return code >= kNegativeFixInt; }
  static constexpr bool is_fixint(std::uint8_t code) {
    return is_positive_fixint(code) || is_negative_fixint(code);
  }
  static constexpr bool is_fixmap(std::uint8_t code) { return (code & 0xf0) == kFixMap; }
  static constexpr bool is_fixarray(std::uint8_t code) { return (code & 0xf0) == kFixArray; }
  static constexpr bool is_fixstr(std::uint8_t code) { return (code & 0xe0) == kFixStr; }
  static constexpr bool is_bool(std::uint8_t code) { return code == kFalse || code == kTrue; }
  static constexpr bool is_uint(std::uint8_t code) { return code >= kUint8 && code <= kUint64; }
  static constexpr bool is_int(std::uint8_t code) { return code >= kInt8 && code <= kInt64; }
  static constexpr bool is_integer(std::uint8_t code) {
    return is_fixint(code) || is_uint(code) || is_int(code);
  }
  static constexpr bool is_float(std::uint8_t code) { return code == kFloat32 || code == kFloat64; }
  static constexpr bool is_str(std::uint8_t code) {
    return is_fixstr(code) || (code >= kStr8 && code <= kStr32);
  }
  static constexpr bool is_bin(std::uint8_t code) { return code >= kBin8 && code <= kBin32; }
  static constexpr bool is_array(std::uint8_t code) {
    return is_fixarray(code) || code == kArray16 || code == kArray32;
  }
  static constexpr bool is_map(std::uint8_t code) {
    return is_fixmap(code) || code == kMap16 || code == kMap32;
  }
  static constexpr bool is_fixext(std::uint8_t code) {
    return code >= kFixExt1 && code <= kFixExt16;
  }
  static constexpr bool is_ext(std::uint8_t code) {
    return is_fixext(code) || (code >= kExt8 && code <= kExt32);
  }

  static constexpr MsgpackKind kind(std::uint8_t code) {
    if (is_integer(code)) return MsgpackKind::integer;
    if (is_str(code)) return MsgpackKind::str;
    if (is_map(code)) return MsgpackKind::map;
    if (is_array(code)) return MsgpackKind::array;
    if (code == kNil) return MsgpackKind::nil;
    if (is_bool(code)) return MsgpackKind::boolean;
    if (is_bin(code)) return MsgpackKind::bin;
    if (is_float(code)) return MsgpackKind::floating;
    if (is_ext(code)) return MsgpackKind::ext;
    return MsgpackKind::none;
  }

  /// How many bytes after the code spell its number: a value, a length or a count.
  static constexpr std::size_t number_bytes(std::uint8_t code) {
    if (is_uint(code)) return std::size_t{1} << (code - kUint8);
    if (is_int(code)) return std::size_t{1} << (code - kInt8);
    if (is_bin(code)) return std::size_t{1} << (code - kBin8);
    if (code >= kExt8 && code <= kExt32) return std::size_t{1} << (code - kExt8);
    if (code >= kStr8 && code <= kStr32) return std::size_t{1} << (code - kStr8);
    if (is_float(code)) return code == kFloat32 ? 4 : 8;
    if (code == kArray16 || code == kMap16) return 2;
    if (code == kArray32 || code == kMap32) return 4;
    return 0;
  }

  /// The length or count that is in the code itself, of codes without a number.
  static constexpr std::uint8_t fixed(std::uint8_t code) {
    if (is_fixmap(code) || is_fixarray(code)) return code & 15;
    if (is_fixstr(code)) return code & 31;
    if (is_fixext(code)) return static_cast<std::uint8_t>(1 << (code - kFixExt1));
    return 0;
  }
};

// The encoded forms, written to memory that has room for them; each answers where it ended. These
// are below the writer and the typed codec, for both to have one notion of the smallest form.

/// The most bytes that a number, or the head of a str, bin, array or map takes.
constexpr std::size_t kMsgpackHeadMax = 9;

template <class Number>
char* put_msgpack_number(char* to, std::uint8_t code, Number number) {
  *to = static_cast<char>(code);
  for (std::size_t i = sizeof number; i > 0; --i) {
    to[i] = static_cast<char>(number & 0xff);
    number = static_cast<Number>(std::uint64_t{number} >> 8);
  }
  return to + 1 + sizeof number;
}

inline char* put_msgpack_code(char* to, std::uint8_t code) {
  *to = static_cast<char>(code);
  return to + 1;
}

inline char* put_msgpack_uint(char* to, std::uint64_t value) {
  using Code = MsgpackCode;
  if (value < Code::kFixMap) return put_msgpack_code(to, static_cast<std::uint8_t>(value));
  if (value <= 0xff) return put_msgpack_number(to, Code::kUint8, static_cast<std::uint8_t>(value));
  if (value <= 0xffff) {
    return put_msgpack_number(to, Code::kUint16, static_cast<std::uint16_t>(value));
  }
  if (value <= 0xffffffff) {
    return put_msgpack_number(to, Code::kUint32, static_cast<std::uint32_t>(value));
  }
  return put_msgpack_number(to, Code::kUint64, value);
}

inline char* put_msgpack_int(char* to, std::int64_t value) {
  using Code = MsgpackCode;
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0) return put_msgpack_uint(to, bits);
  if (value >= -32) return put_msgpack_code(to, static_cast<std::uint8_t>(bits));
  if (value >= std::numeric_limits<std::int8_t>::min()) {
    return put_msgpack_number(to, Code::kInt8, static_cast<std::uint8_t>(bits));
  }
  if (value >= std::numeric_limits<std::int16_t>::min()) {
    return put_msgpack_number(to, Code::kInt16, static_cast<std::uint16_t>(bits));
  }
  if (value >= std::numeric_limits<std::int32_t>::min()) {
    return put_msgpack_number(to, Code::kInt32, static_cast<std::uint32_t>(bits));
  }
  return put_msgpack_number(to, Code::kInt64, bits);
}

/// The head of something of `size` parts: `fix` | size up to `fix_max`, else `code8` (0: there is
/// none) and the two codes after `code16`. Pre: below 2^32.
inline char* put_msgpack_size(char* to, std::uint64_t size, std::uint8_t fix, std::uint8_t fix_max,
                              std::uint8_t code8, std::uint8_t code16) {
  ORLOP_CHECK(size <= 0xffffffff);
  if (size <= fix_max && fix != 0) {
    return put_msgpack_code(to, static_cast<std::uint8_t>(fix | size));
  }
  if (size <= 0xff && code8 != 0) {
    return put_msgpack_number(to, code8, static_cast<std::uint8_t>(size));
  }
  if (size <= 0xffff) return put_msgpack_number(to, code16, static_cast<std::uint16_t>(size));
  const auto code32 = static_cast<std::uint8_t>(code16 + 1);
  return put_msgpack_number(to, code32, static_cast<std::uint32_t>(size));
}

inline char* put_msgpack_str_head(char* to, std::uint64_t size) {
  return put_msgpack_size(to, size, MsgpackCode::kFixStr, 31, MsgpackCode::kStr8,
                          MsgpackCode::kStr16);
}
inline char* put_msgpack_bin_head(char* to, std::uint64_t size) {
  return put_msgpack_size(to, size, 0, 0, MsgpackCode::kBin8, MsgpackCode::kBin16);
}
inline char* put_msgpack_array_head(char* to, std::uint64_t count) {
  return put_msgpack_size(to, count, MsgpackCode::kFixArray, 15, 0, MsgpackCode::kArray16);
}
inline char* put_msgpack_map_head(char* to, std::uint64_t count) {
  return put_msgpack_size(to, count, MsgpackCode::kFixMap, 15, 0, MsgpackCode::kMap16);
}

inline char* put_msgpack_float(char* to, float value) {
  return put_msgpack_number(to, MsgpackCode::kFloat32, std::bit_cast<std::uint32_t>(value));
}
inline char* put_msgpack_double(char* to, double value) {
  return put_msgpack_number(to, MsgpackCode::kFloat64, std::bit_cast<std::uint64_t>(value));
}

}  // namespace orlop
