#include "metadata/msgpack.h"

#include <bit>
#include <utility>

#include "base/check.h"

namespace orlop {
namespace {

using Code = MsgpackCode;

/// Whether an integer of this first byte is negative, and if so its number with
/// the sign spread.
bool spread_sign(std::uint8_t tag, std::uint64_t& number) {
  if (tag < Code::kInt8 || tag > Code::kInt64) return false;
  const int unused_bits = 64 - (8 << (tag - Code::kInt8));
  number =
      static_cast<std::uint64_t>(static_cast<std::int64_t>(number << unused_bits) >> unused_bits);
  return static_cast<std::int64_t>(number) < 0;
}

}  // namespace

MsgpackReader::MsgpackReader(std::string_view bytes, MsgpackLimits limits)
    : left_(bytes), depth_max_(limits.depth), elements_left_(limits.elements) {
  ORLOP_CHECK(limits.depth <= kDepthMax);
  if (bytes.size() > limits.bytes) fail("too long");
}

void MsgpackReader::read_nil() {
  if (peek() != MsgpackKind::nil) return fail("not nil");
  take_tag();
  value_done();
}

bool MsgpackReader::read_bool() {
  if (peek() != MsgpackKind::boolean) return fail("not a bool"), false;
  const bool value = take_tag() == Code::kTrue;
  value_done();
  return value;
}

std::uint64_t MsgpackReader::read_uint() {
  if (peek() != MsgpackKind::integer) return fail("not an integer"), 0;
  const auto tag = take_tag();
  if (tag >= Code::kNegativeFixInt) return fail("negative"), 0;
  auto number = tag < Code::kFixMap ? tag : take_number(Code::number_bytes(tag));
  if (spread_sign(tag, number)) fail("negative");
  if (failed()) return 0;
  value_done();
  return number;
}

std::int64_t MsgpackReader::read_int() {
  if (peek() != MsgpackKind::integer) return fail("not an integer"), 0;
  const auto tag = take_tag();
  auto number = tag < Code::kFixMap ? tag : take_number(Code::number_bytes(tag));
  bool negative = spread_sign(tag, number);
  if (tag >= Code::kNegativeFixInt) {
    number = std::uint64_t{tag} | ~std::uint64_t{0xff};  // The sign, spread.
    negative = true;
  }
  const auto value = static_cast<std::int64_t>(number);
  if (!negative && value < 0) fail("above the greatest signed integer");
  if (failed()) return 0;
  value_done();
  return value;
}

float MsgpackReader::read_float() {
  const bool narrow = !left_.empty() && static_cast<std::uint8_t>(left_.front()) == Code::kFloat32;
  if (!narrow) return fail("not a float of 32 bits"), 0;
  take_tag();
  const auto bits = static_cast<std::uint32_t>(take_number(4));
  if (failed()) return 0;
  value_done();
  return std::bit_cast<float>(bits);
}

double MsgpackReader::read_double() {
  if (peek() != MsgpackKind::floating) return fail("not a float"), 0;
  if (static_cast<std::uint8_t>(left_.front()) == Code::kFloat32) return double{read_float()};
  take_tag();
  const auto bits = take_number(8);
  if (failed()) return 0;
  value_done();
  return std::bit_cast<double>(bits);
}

std::string_view MsgpackReader::read_str() {
  if (peek() != MsgpackKind::str) return fail("not a str"), std::string_view();
  const auto text = take(take_size(take_tag()));
  value_done();
  return text;
}

std::string_view MsgpackReader::read_bin() {
  if (peek() != MsgpackKind::bin) return fail("not a bin"), std::string_view();
  const auto bytes = take(take_size(take_tag()));
  value_done();
  return bytes;
}

MsgpackExt MsgpackReader::read_ext() {
  if (peek() != MsgpackKind::ext) return fail("not an ext"), MsgpackExt();
  const auto size = take_size(take_tag());
  const auto type = static_cast<std::int8_t>(take_number(1));
  const auto bytes = take(size);
  if (failed()) return {};
  value_done();
  return {type, bytes};
}

MsgpackTimestamp MsgpackReader::read_timestamp() {
  auto ahead = *this;
  const auto [type, bytes] = ahead.read_ext();
  if (ahead.failed()) return fail(ahead.fault_), MsgpackTimestamp();
  if (type != Code::kTimestampType) return fail("not a timestamp"), MsgpackTimestamp();

  const auto number = [](std::string_view big_endian) {
    std::uint64_t value = 0;
    for (const char byte : big_endian) value = value << 8 | static_cast<std::uint8_t>(byte);
    return value;
  };
  std::uint64_t seconds = 0;
  std::uint64_t nanoseconds = 0;
  switch (bytes.size()) {
    case 4: seconds = number(bytes); break;
    case 8:
      nanoseconds = number(bytes) >> 34;
      seconds = number(bytes) & 0x3'ffff'ffff;
      break;
    case 12:
      nanoseconds = number(bytes.substr(0, 4));
      seconds = number(bytes.substr(4));
      break;
    default: return fail("a timestamp of no size of the format"), MsgpackTimestamp();
  }
  if (nanoseconds >= MsgpackTimestamp::kNanosecondsEnd) {
    return fail("more nanoseconds than a second has"), MsgpackTimestamp();
  }
  *this = ahead;
  return {static_cast<std::int64_t>(seconds), static_cast<std::uint32_t>(nanoseconds)};
}

std::size_t MsgpackReader::read_array() {
  if (peek() != MsgpackKind::array) return fail("not an array"), 0;
  return open(take_size(take_tag()), 1);
}

std::size_t MsgpackReader::read_map() {
  if (peek() != MsgpackKind::map) return fail("not a map"), 0;
  return open(take_size(take_tag()), 2);
}

void MsgpackReader::skip() {
  // How deep the values are nested does not matter to one who only counts them.
  for (std::uint64_t missing = 1; missing > 0 && !failed(); --missing) {
    const auto code = take_tag();
    std::uint64_t inside = 0;
    switch (Code::kind(code)) {
      case MsgpackKind::nil:
      case MsgpackKind::boolean: break;
      case MsgpackKind::integer:
      case MsgpackKind::floating: take(Code::number_bytes(code)); break;
      case MsgpackKind::str:
      case MsgpackKind::bin: take(take_size(code)); break;
      case MsgpackKind::ext: take(take_size(code) + 1); break;
      case MsgpackKind::array: inside = take_size(code); break;
      case MsgpackKind::map: inside = 2 * take_size(code); break;
      case MsgpackKind::none: fail("no such kind"); break;
    }
    spend(inside);
    missing += inside;
    // A value is one byte at least. So `missing` stays below the bytes given,
    // and cannot overflow.
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
  return taken.empty() ? Code::kNeverUsed : static_cast<std::uint8_t>(taken.front());
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

std::uint64_t MsgpackReader::take_size(std::uint8_t code) {
  const auto bytes = Code::number_bytes(code);
  return bytes == 0 ? Code::fixed(code) : take_number(bytes);
}

void MsgpackReader::spend(std::uint64_t elements) {
  if (elements > elements_left_) return fail("too many elements");
  elements_left_ -= elements;
}

std::size_t MsgpackReader::open(std::uint64_t count, std::uint64_t values_each) {
  const auto values = count * values_each;  // Below 2^33: a count has four bytes at most.
  if (values > left_.size()) fail("more values than bytes");
  if (depth_ == depth_max_) fail("nested too deep");
  spend(values);
  if (failed()) return 0;
  // First the array itself counts as a value of the one around it, which then
  // stays open below.
  if (depth_ > 0) --missing_[depth_ - 1];
  missing_[depth_++] = values + 1;
  value_done();
  return static_cast<std::size_t>(count);
}

void MsgpackReader::fail(const char* why) {
  if (!failed()) fault_ = why;
  left_ = {};
}

}  // namespace orlop
