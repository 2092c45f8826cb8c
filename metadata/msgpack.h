#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "metadata/msgpack_format.h"

namespace orlop {

// MessagePack, as github.com/msgpack/msgpack/blob/master/spec.md defines it. The codes and their
// classes are in metadata/msgpack_format.h.

/// A moment, by the ext of type -1 (spec.md, "Timestamp extension type").
struct MsgpackTimestamp {
  static constexpr std::uint32_t kNanosecondsEnd = 1'000'000'000;

  std::int64_t seconds = 0;       ///< Since 1970.
  std::uint32_t nanoseconds = 0;  ///< After it, below kNanosecondsEnd.

  friend bool operator==(const MsgpackTimestamp&, const MsgpackTimestamp&) = default;
};

/// An ext: bytes, and a type that says what they mean. Negative types are the format's own.
struct MsgpackExt {
  std::int8_t type = 0;
  std::string_view bytes;
};

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
  /// 32 and 64 bits, whatever the number: the reader of a field knows its width.
  void write_float(float value);
  void write_double(double value);
  /// Pre: below 2^32 bytes, as the format demands of these and of counts.
  void write_str(std::string_view text);
  void write_bin(std::string_view bytes);
  void write_array(std::size_t count);
  void write_map(std::size_t count);
  void write_ext(std::int8_t type, std::string_view bytes);
  void write_timestamp(MsgpackTimestamp time);

 private:
  std::string* out_;
};

/// What a reader takes at most, beside what the bytes themselves can justify.
struct MsgpackLimits {
  static constexpr std::uint64_t kUnlimited = 0xffffffffffffffff;

  std::size_t depth = 32;               ///< Arrays and maps in each other; 32 at most.
  std::uint64_t elements = kUnlimited;  ///< Values inside arrays and maps, all together.
  std::uint64_t bytes = kUnlimited;     ///< Of the whole input.
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
  static constexpr std::size_t kDepthMax = MsgpackLimits{}.depth;

  /// Fails from the start if there are more bytes than `limits` allow.
  explicit MsgpackReader(std::string_view bytes, MsgpackLimits limits = {});
  explicit MsgpackReader(std::span<const std::byte> bytes, MsgpackLimits limits = {})
      : MsgpackReader({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, limits) {}

  MsgpackKind peek() const {
    return left_.empty() ? MsgpackKind::none
                         : MsgpackCode::kind(static_cast<std::uint8_t>(left_.front()));
  }

  void read_nil();
  bool read_bool();
  /// Fails on a number that the type cannot hold, as for every other wrong kind.
  std::int64_t read_int();
  std::uint64_t read_uint();
  /// Of 32 bits only: a wider one may not fit.
  float read_float();
  /// Of either width; a float widens without loss.
  double read_double();
  std::string_view read_str();
  std::string_view read_bin();
  /// Any ext, timestamps too.
  MsgpackExt read_ext();
  /// Fails if the ext is of another type, of another size than the format's three, or has more
  /// nanoseconds than a second.
  MsgpackTimestamp read_timestamp();
  /// The number of values that follow and belong to it.
  std::size_t read_array();
  /// The number of pairs of values that follow and belong to it.
  std::size_t read_map();

  /// Passes over one value of any kind, with all that is in it. Takes neither stack nor memory.
  /// The limit of elements holds, that of depth need not.
  void skip();

  /// Passes over a str of just this text; else nothing changes. For names that are expected next.
  /// The text has 31 bytes at most and stands in the form that we write, or it is not recognised.
  bool accept_str(std::string_view text) {
    if (text.size() > 31 || left_.size() <= text.size()) return false;
    if (static_cast<std::uint8_t>(left_.front()) != (MsgpackCode::kFixStr | text.size())) {
      return false;
    }
    if (left_.substr(1, text.size()) != text) return false;
    left_.remove_prefix(text.size() + 1);
    value_done();
    return true;
  }

  /// Makes the reader fail: what was read is of the right kind, but not what the caller can take.
  void reject(const char* why) { fail(why); }

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
  /// The length or count that follows this code, or is in it.
  std::uint64_t take_size(std::uint8_t code);
  std::size_t open(std::uint64_t count, std::uint64_t values_each);
  void spend(std::uint64_t elements);
  void value_done() {
    if (failed() || depth_ == 0) return;
    --missing_[depth_ - 1];
    while (depth_ > 0 && missing_[depth_ - 1] == 0) --depth_;
  }
  void fail(const char* why);

  std::string_view left_;
  const char* fault_ = nullptr;
  std::array<std::uint64_t, kDepthMax> missing_{};  // Values, in each array or map that is open.
  std::size_t depth_ = 0;
  std::size_t depth_max_;
  std::uint64_t elements_left_;
};

}  // namespace orlop
