#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orlop {

// MessagePack, as github.com/msgpack/msgpack/blob/master/spec.md defines it, in the kinds that our
// records use: nil, bool, int, str, bin, array, map. Other kinds can only be skipped.

/// Appends values to a string, each in the smallest form that holds it, as vmihailenco/msgpack v5
/// with compact integers does (tests/golden/msgpack.json).
///
/// An array or a map is its head and then as many values as the head says (a map: twice as many);
/// to keep that count is the caller's part. `out` outlives the writer. Not thread-safe.
class MsgpackWriter {
 public:
  explicit MsgpackWriter(std::string& out) : out_(&out) {}

  void write_nil();
  void write_bool(bool value);
  void write_int(std::int64_t value);
  void write_uint(std::uint64_t value);
  /// Pre: below 2^32 bytes, as the format demands of these and of counts.
  void write_str(std::string_view text);
  void write_bin(std::string_view bytes);
  void write_array(std::size_t count);
  void write_map(std::size_t count);

 private:
  std::string* out_;
};

/// What the next value is.
enum class MsgpackKind : std::uint8_t {
  nil,
  boolean,
  integer,
  str,
  bin,
  array,
  map,
  other,  ///< A float or an extension.
  none,   ///< No value: the bytes are over, or the reader has failed.
};

/// Reads values from bytes that anybody may have written.
///
/// Nothing is allocated: strings are views into the bytes, and a count is never more than the bytes
/// that are left can hold, so it is safe to reserve for. Never throws. The first thing that is
/// wrong, in the bytes or against what was asked for, makes the reader fail: then every read
/// answers with zero, empty or false, and `finish` says what it was. So a decoder reads all its
/// fields and asks once.
///
/// Integers are taken in any form that the format allows, not only the smallest. A str may hold any
/// bytes: UTF-8 is not checked. The bytes outlive the reader and its views. Not thread-safe.
class MsgpackReader {
 public:
  /// Arrays and maps nested deeper than this are refused when they are read one by one, so that
  /// callers may recurse. `skip` needs no such limit.
  static constexpr std::size_t kDepthMax = 32;

  explicit MsgpackReader(std::string_view bytes) : left_(bytes) {}
  explicit MsgpackReader(std::span<const std::byte> bytes)
      : left_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}

  MsgpackKind peek() const;

  void read_nil();
  bool read_bool();
  /// Fails on a number that the type cannot hold, as for every other wrong kind.
  std::int64_t read_int();
  std::uint64_t read_uint();
  std::string_view read_str();
  std::string_view read_bin();
  /// The number of values that follow and belong to it.
  std::size_t read_array();
  /// The number of pairs of values that follow and belong to it.
  std::size_t read_map();

  /// Passes over one value of any kind, with all that is in it. Takes neither stack nor memory.
  void skip();

  bool failed() const { return fault_ != nullptr; }
  std::size_t bytes_left() const { return left_.size(); }

  /// Success if nothing failed, no array or map is short of values, and all bytes were read. Else
  /// `corrupt`: decoding is for bytes that we wrote ourselves. Others translate it.
  Result<> finish() const;

 private:
  /// The first byte of the next value, which it takes away; fails if there is none.
  std::uint8_t take_tag();
  /// A big-endian number of `bytes` bytes.
  std::uint64_t take_number(std::size_t bytes);
  std::string_view take(std::uint64_t bytes);
  std::size_t open(std::uint64_t count, std::uint64_t values_each);
  void value_done();
  void fail(const char* why);

  std::string_view left_;
  const char* fault_ = nullptr;
  std::array<std::uint64_t, kDepthMax> missing_{};  // Values, in each array or map that is open.
  std::size_t depth_ = 0;
};

}  // namespace orlop
