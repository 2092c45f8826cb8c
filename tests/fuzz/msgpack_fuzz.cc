// Records are bytes at rest, and anything may happen to bytes at rest. Properties of every input
// that starts with a readable value: what was read, written again, is not longer, reads as the same
// and is then written the same; and `skip` passes over exactly the bytes that reading takes.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "metadata/msgpack.h"

namespace {

// Recursion is safe: the reader's depth has a limit.
void copy_value(orlop::MsgpackReader& reader, orlop::MsgpackWriter& writer) {
  using orlop::MsgpackKind;
  switch (reader.peek()) {
    case MsgpackKind::nil: return reader.read_nil(), writer.write_nil();
    case MsgpackKind::boolean: return writer.write_bool(reader.read_bool());
    case MsgpackKind::integer: {
      auto signed_reader = reader;  // Only a number of 2^63 or more is not for it.
      if (const auto value = signed_reader.read_int(); !signed_reader.failed()) {
        reader = signed_reader;
        return writer.write_int(value);
      }
      return writer.write_uint(reader.read_uint());
    }
    case MsgpackKind::str: return writer.write_str(reader.read_str());
    case MsgpackKind::bin: return writer.write_bin(reader.read_bin());
    case MsgpackKind::array: {
      const auto count = reader.read_array();
      writer.write_array(count);
      for (std::size_t i = 0; i < count && !reader.failed(); ++i) copy_value(reader, writer);
      return;
    }
    case MsgpackKind::map: {
      const auto count = reader.read_map();
      writer.write_map(count);
      for (std::size_t i = 0; i < 2 * count && !reader.failed(); ++i) copy_value(reader, writer);
      return;
    }
    case MsgpackKind::floating: {
      auto narrow_reader = reader;
      if (const auto value = narrow_reader.read_float(); !narrow_reader.failed()) {
        reader = narrow_reader;
        return writer.write_float(value);
      }
      return writer.write_double(reader.read_double());
    }
    case MsgpackKind::ext: {
      auto time_reader = reader;
      if (const auto time = time_reader.read_timestamp(); !time_reader.failed()) {
        reader = time_reader;
        return writer.write_timestamp(time);
      }
      const auto ext = reader.read_ext();
      return writer.write_ext(ext.type, ext.bytes);
    }
    case MsgpackKind::none: reader.read_nil(); return;  // Fails: not for this test.
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  orlop::MsgpackReader skipping(bytes);
  skipping.skip();

  orlop::MsgpackReader reader(bytes);
  std::string once;
  orlop::MsgpackWriter once_writer(once);
  copy_value(reader, once_writer);
  if (reader.failed()) return 0;

  const auto read_bytes = size - reader.bytes_left();
  ORLOP_CHECK(!skipping.failed());
  ORLOP_CHECK(skipping.bytes_left() == reader.bytes_left());
  ORLOP_CHECK(once.size() <= read_bytes);

  orlop::MsgpackReader again(once);
  std::string twice;
  orlop::MsgpackWriter twice_writer(twice);
  copy_value(again, twice_writer);
  ORLOP_CHECK(again.finish().has_value());
  ORLOP_CHECK(once == twice);
  return 0;
}
