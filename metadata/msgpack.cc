#include "metadata/msgpack.h"

#include <limits>
#include <utility>

#include "base/check.h"

namespace orlop {
namespace {

// The format's first bytes (spec.md, "Overview").
constexpr std::uint8_t kFixMap = 0x80, kFixArray = 0x90, kFixStr = 0xa0, kNegativeFixInt = 0xe0;
constexpr std::uint8_t kNil = 0xc0, kNeverUsed = 0xc1, kFalse = 0xc2, kTrue = 0xc3;
constexpr std::uint8_t kBin8 = 0xc4, kBin16 = 0xc5, kBin32 = 0xc6;
constexpr std::uint8_t kExt8 = 0xc7, kExt16 = 0xc8, kExt32 = 0xc9;
constexpr std::uint8_t kFloat32 = 0xca, kFloat64 = 0xcb;
constexpr std::uint8_t kUint8 = 0xcc, kUint16 = 0xcd, kUint32 = 0xce, kUint64 = 0xcf;
constexpr std::uint8_t kInt8 = 0xd0, kInt16 = 0xd1, kInt32 = 0xd2, kInt64 = 0xd3;
constexpr std::uint8_t kFixExt1 = 0xd4, kFixExt16 = 0xd8;
constexpr std::uint8_t kStr8 = 0xd9, kStr16 = 0xda, kStr32 = 0xdb;
constexpr std::uint8_t kArray16 = 0xdc, kArray32 = 0xdd, kMap16 = 0xde, kMap32 = 0xdf;

constexpr std::uint64_t kMax8 = 0xff, kMax16 = 0xffff, kMax32 = 0xffffffff;

void append(std::string& out, std::uint8_t tag, std::uint64_t number, int bytes) {
  char encoded[9];
  encoded[0] = static_cast<char>(tag);
  for (int i = bytes; i > 0; --i, number >>= 8) encoded[i] = static_cast<char>(number & 0xff);
  out.append(encoded, static_cast<std::size_t>(bytes) + 1);
}

void append_count16(std::string& out, std::uint8_t fix, std::uint8_t tag16, std::uint64_t count) {
  ORLOP_CHECK(count <= kMax32);
  if (count <= 15) return append(out, static_cast<std::uint8_t>(fix | count), 0, 0);
  if (count <= kMax16) return append(out, tag16, count, 2);
  append(out, static_cast<std::uint8_t>(tag16 + 1), count, 4);
}

/// What follows a first byte: a number of `number_bytes` bytes, then so many bytes of payload, then
/// so many values. The number is a count or a length in the kinds that have one, else the payload.
struct Shape {
  MsgpackKind kind;
  std::uint8_t number_bytes = 0;
  std::uint8_t fixed = 0;  ///< In place of the number, if it has no bytes; an ext's type is in it.
};

Shape shape_of(std::uint8_t tag) {
  if (tag < kFixMap || tag >= kNegativeFixInt) return {MsgpackKind::integer};
  if (tag < kFixArray) return {MsgpackKind::map, 0, static_cast<std::uint8_t>(tag & 15)};
  if (tag < kFixStr) return {MsgpackKind::array, 0, static_cast<std::uint8_t>(tag & 15)};
  if (tag < kNil) return {MsgpackKind::str, 0, static_cast<std::uint8_t>(tag & 31)};
  if (tag >= kFixExt1 && tag <= kFixExt16) {
    return {MsgpackKind::other, 0, static_cast<std::uint8_t>((1 << (tag - kFixExt1)) + 1)};
  }
  switch (tag) {
    case kNil: return {MsgpackKind::nil};
    case kFalse:
    case kTrue: return {MsgpackKind::boolean};
    case kBin8: return {MsgpackKind::bin, 1};
    case kBin16: return {MsgpackKind::bin, 2};
    case kBin32: return {MsgpackKind::bin, 4};
    case kExt8: return {MsgpackKind::other, 1, 1};
    case kExt16: return {MsgpackKind::other, 2, 1};
    case kExt32: return {MsgpackKind::other, 4, 1};
    case kFloat32: return {MsgpackKind::other, 0, 4};
    case kFloat64: return {MsgpackKind::other, 0, 8};
    case kUint8:
    case kInt8: return {MsgpackKind::integer, 1};
    case kUint16:
    case kInt16: return {MsgpackKind::integer, 2};
    case kUint32:
    case kInt32: return {MsgpackKind::integer, 4};
    case kUint64:
    case kInt64: return {MsgpackKind::integer, 8};
    case kStr8: return {MsgpackKind::str, 1};
    case kStr16: return {MsgpackKind::str, 2};
    case kStr32: return {MsgpackKind::str, 4};
    case kArray16: return {MsgpackKind::array, 2};
    case kArray32: return {MsgpackKind::array, 4};
    case kMap16: return {MsgpackKind::map, 2};
    case kMap32: return {MsgpackKind::map, 4};
    default: return {MsgpackKind::none};  // kNeverUsed.
  }
}

/// Whether an integer of this first byte is negative, and if so its number with the sign spread.
bool spread_sign(std::uint8_t tag, std::uint64_t& number) {
  if (tag < kInt8 || tag > kInt64) return false;
  const int unused_bits = 64 - (8 << (tag - kInt8));
  number =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(number << unused_bits) >> unused_bits);
  return static_cast<std::int64_t>(number) < 0;
}

}  // namespace

void MsgpackWriter::write_nil() { append(*out_, kNil, 0, 0); }

void MsgpackWriter::write_bool(bool value) { append(*out_, value ? kTrue : kFalse, 0, 0); }

void MsgpackWriter::write_uint(std::uint64_t value) {
  if (value < kFixMap) return append(*out_, static_cast<std::uint8_t>(value), 0, 0);
  if (value <= kMax8) return append(*out_, kUint8, value, 1);
  if (value <= kMax16) return append(*out_, kUint16, value, 2);
  if (value <= kMax32) return append(*out_, kUint32, value, 4);
  append(*out_, kUint64, value, 8);
}

void MsgpackWriter::write_int(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  if (value >= 0) return write_uint(bits);
  if (value >= -32) return append(*out_, static_cast<std::uint8_t>(bits), 0, 0);
  if (value >= std::numeric_limits<std::int8_t>::min()) return append(*out_, kInt8, bits, 1);
  if (value >= std::numeric_limits<std::int16_t>::min()) return append(*out_, kInt16, bits, 2);
  if (value >= std::numeric_limits<std::int32_t>::min()) return append(*out_, kInt32, bits, 4);
  append(*out_, kInt64, bits, 8);
}

void MsgpackWriter::write_str(std::string_view text) {
  const std::uint64_t size = text.size();
  ORLOP_CHECK(size <= kMax32);
  if (size <= 31) {
    append(*out_, static_cast<std::uint8_t>(kFixStr | size), 0, 0);
  } else if (size <= kMax8) {
    append(*out_, kStr8, size, 1);
  } else if (size <= kMax16) {
    append(*out_, kStr16, size, 2);
  } else {
    append(*out_, kStr32, size, 4);
  }
  out_->append(text);
}

void MsgpackWriter::write_bin(std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  ORLOP_CHECK(size <= kMax32);
  if (size <= kMax8) {
    append(*out_, kBin8, size, 1);
  } else if (size <= kMax16) {
    append(*out_, kBin16, size, 2);
  } else {
    append(*out_, kBin32, size, 4);
  }
  out_->append(bytes);
}

void MsgpackWriter::write_array(std::size_t count) {
  append_count16(*out_, kFixArray, kArray16, count);
}

void MsgpackWriter::write_map(std::size_t count) { append_count16(*out_, kFixMap, kMap16, count); }

MsgpackKind MsgpackReader::peek() const {
  if (failed() || left_.empty()) return MsgpackKind::none;
  return shape_of(static_cast<std::uint8_t>(left_.front())).kind;
}

void MsgpackReader::read_nil() {
  if (peek() != MsgpackKind::nil) return fail("not nil");
  take_tag();
  value_done();
}

bool MsgpackReader::read_bool() {
  if (peek() != MsgpackKind::boolean) return fail("not a bool"), false;
  const bool value = take_tag() == kTrue;
  value_done();
  return value;
}

std::uint64_t MsgpackReader::read_uint() {
  if (peek() != MsgpackKind::integer) return fail("not an integer"), 0;
  const auto tag = take_tag();
  if (tag >= kNegativeFixInt) return fail("negative"), 0;
  auto number = tag < kFixMap ? tag : take_number(shape_of(tag).number_bytes);
  if (spread_sign(tag, number)) fail("negative");
  if (failed()) return 0;
  value_done();
  return number;
}

std::int64_t MsgpackReader::read_int() {
  if (peek() != MsgpackKind::integer) return fail("not an integer"), 0;
  const auto tag = take_tag();
  auto number = tag < kFixMap ? tag : take_number(shape_of(tag).number_bytes);
  bool negative = spread_sign(tag, number);
  if (tag >= kNegativeFixInt) {
    number = std::uint64_t{tag} | ~std::uint64_t{0xff};  // The sign, spread.
    negative = true;
  }
  const auto value = static_cast<std::int64_t>(number);
  if (!negative && value < 0) fail("above the greatest signed integer");
  if (failed()) return 0;
  value_done();
  return value;
}

std::string_view MsgpackReader::read_str() {
  if (peek() != MsgpackKind::str) return fail("not a str"), std::string_view();
  const auto shape = shape_of(take_tag());
  const auto text = take(shape.number_bytes == 0 ? shape.fixed : take_number(shape.number_bytes));
  value_done();
  return text;
}

std::string_view MsgpackReader::read_bin() {
  if (peek() != MsgpackKind::bin) return fail("not a bin"), std::string_view();
  const auto bytes = take(take_number(shape_of(take_tag()).number_bytes));
  value_done();
  return bytes;
}

std::size_t MsgpackReader::read_array() {
  if (peek() != MsgpackKind::array) return fail("not an array"), 0;
  const auto shape = shape_of(take_tag());
  return open(shape.number_bytes == 0 ? shape.fixed : take_number(shape.number_bytes), 1);
}

std::size_t MsgpackReader::read_map() {
  if (peek() != MsgpackKind::map) return fail("not a map"), 0;
  const auto shape = shape_of(take_tag());
  return open(shape.number_bytes == 0 ? shape.fixed : take_number(shape.number_bytes), 2);
}

void MsgpackReader::skip() {
  // How deep the values are nested does not matter to one who only counts them.
  for (std::uint64_t missing = 1; missing > 0 && !failed(); --missing) {
    const auto shape = shape_of(take_tag());
    const auto number = take_number(shape.number_bytes);
    switch (shape.kind) {
      case MsgpackKind::nil:
      case MsgpackKind::boolean:
      case MsgpackKind::integer: break;
      case MsgpackKind::str:
      case MsgpackKind::bin:
      case MsgpackKind::other: take(number + shape.fixed); break;
      case MsgpackKind::array: missing += number + shape.fixed; break;
      case MsgpackKind::map: missing += 2 * (number + shape.fixed); break;
      case MsgpackKind::none: fail("no such kind"); break;
    }
    // A value is one byte at least. So `missing` stays below the bytes given, and cannot overflow.
    if (missing - 1 > left_.size()) fail("more values than bytes");
  }
  if (!failed()) value_done();
}

Result<> MsgpackReader::finish() const {
  if (failed()) return Error(Errc::corrupt, std::string("msgpack: ") + fault_);
  if (depth_ > 0) return Error(Errc::corrupt, "msgpack: values are left unread");
  if (!left_.empty()) return Error(Errc::corrupt, "msgpack: bytes after the end");
  return {};
}

std::uint8_t MsgpackReader::take_tag() {
  const auto taken = take(1);
  return taken.empty() ? kNeverUsed : static_cast<std::uint8_t>(taken.front());
}

std::uint64_t MsgpackReader::take_number(std::size_t bytes) {
  std::uint64_t number = 0;
  for (const char byte : take(bytes)) number = number << 8 | static_cast<std::uint8_t>(byte);
  return number;
}

std::string_view MsgpackReader::take(std::uint64_t bytes) {
  if (failed()) return {};
  if (bytes > left_.size()) return fail("cut short"), std::string_view();
  const auto taken = left_.substr(0, bytes);
  left_.remove_prefix(bytes);
  return taken;
}

std::size_t MsgpackReader::open(std::uint64_t count, std::uint64_t values_each) {
  const auto values = count * values_each;  // Below 2^33: a count has four bytes at most.
  if (values > left_.size()) fail("more values than bytes");
  if (depth_ == kDepthMax) fail("nested too deep");
  if (failed()) return 0;
  // First the array itself counts as a value of the one around it, which then stays open below.
  if (depth_ > 0) --missing_[depth_ - 1];
  missing_[depth_++] = values + 1;
  value_done();
  return static_cast<std::size_t>(count);
}

void MsgpackReader::value_done() {
  if (failed() || depth_ == 0) return;
  --missing_[depth_ - 1];
  while (depth_ > 0 && missing_[depth_ - 1] == 0) --depth_;
}

void MsgpackReader::fail(const char* why) {
  if (!failed()) fault_ = why;
  left_ = {};
}

}  // namespace orlop
