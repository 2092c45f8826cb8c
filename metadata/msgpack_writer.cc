#include <cstdint>

#include "base/check.h"
#include "metadata/msgpack.h"
#include "metadata/msgpack_format.h"

namespace orlop {
namespace {

/// A first byte, a length of four bytes, an ext's type and a timestamp's twelve bytes.
constexpr std::size_t kPartMax = 1 + 4 + 1 + 12;

/// Appends what `put` writes to the memory that it is given.
template <class Put>
void append(std::string& out, const Put& put) {
  char part[kPartMax];
  out.append(part, static_cast<std::size_t>(put(part) - part));
}

char* put_ext_head(char* to, std::uint64_t size, std::int8_t type) {
  if (std::has_single_bit(size) && size <= 16) {
    const auto code = MsgpackCode::kFixExt1 + std::countr_zero(size);
    to = put_msgpack_code(to, static_cast<std::uint8_t>(code));
  } else {
    to = put_msgpack_size(to, size, 0, 0, MsgpackCode::kExt8, MsgpackCode::kExt16);
  }
  return put_msgpack_code(to, static_cast<std::uint8_t>(type));
}

}  // namespace

void MsgpackWriter::write_nil() { out_->push_back(static_cast<char>(MsgpackCode::kNil)); }

void MsgpackWriter::write_bool(bool value) {
  out_->push_back(static_cast<char>(value ? MsgpackCode::kTrue : MsgpackCode::kFalse));
}

void MsgpackWriter::write_uint(std::uint64_t value) {
  append(*out_, [value](char* to) { return put_msgpack_uint(to, value); });
}

void MsgpackWriter::write_int(std::int64_t value) {
  append(*out_, [value](char* to) { return put_msgpack_int(to, value); });
}

void MsgpackWriter::write_float(float value) {
  append(*out_, [value](char* to) { return put_msgpack_float(to, value); });
}

void MsgpackWriter::write_double(double value) {
  append(*out_, [value](char* to) { return put_msgpack_double(to, value); });
}

void MsgpackWriter::write_str(std::string_view text) {
  append(*out_, [text](char* to) { return put_msgpack_str_head(to, text.size()); });
  out_->append(text);
}

void MsgpackWriter::write_bin(std::string_view bytes) {
  append(*out_, [bytes](char* to) { return put_msgpack_bin_head(to, bytes.size()); });
  out_->append(bytes);
}

void MsgpackWriter::write_array(std::size_t count) {
  append(*out_, [count](char* to) { return put_msgpack_array_head(to, count); });
}

void MsgpackWriter::write_map(std::size_t count) {
  append(*out_, [count](char* to) { return put_msgpack_map_head(to, count); });
}

void MsgpackWriter::write_ext(std::int8_t type, std::string_view bytes) {
  append(*out_, [&](char* to) { return put_ext_head(to, bytes.size(), type); });
  out_->append(bytes);
}

void MsgpackWriter::write_timestamp(MsgpackTimestamp time) {
  ORLOP_CHECK(time.nanoseconds < MsgpackTimestamp::kNanosecondsEnd);
  const auto seconds = static_cast<std::uint64_t>(time.seconds);
  // A number's code is overwritten by the end of the head before it.
  char body[1 + 12];
  char* end = body;
  if (seconds >> 34 != 0) {  // Negative ones too.
    put_msgpack_number(body + 4, 0, seconds);
    end = put_msgpack_number(body, 0, time.nanoseconds) + sizeof seconds;
    // The nanoseconds' last byte is where the code of the seconds was.
  } else if (const auto both = std::uint64_t{time.nanoseconds} << 34 | seconds; both >> 32 != 0) {
    end = put_msgpack_number(body, 0, both);
  } else {
    end = put_msgpack_number(body, 0, static_cast<std::uint32_t>(both));
  }
  write_ext(MsgpackCode::kTimestampType, {body + 1, static_cast<std::size_t>(end - body) - 1});
}

}  // namespace orlop
