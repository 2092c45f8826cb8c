#include <catch2/catch.hpp>
#include <cstdint>

#include "base/hex.h"
#include "metadata/msgpack.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

TEST_CASE("msgpack: what is no timestamp of the format is not read as one") {
  for (const auto* hex : {"d60000000000", "d7ffffffffff00000000", "c70cff3b9aca000000000000000000",
                          "d5ff0000", "c70bff0000000000000000000000", "c0", "d6ff0000", ""}) {
    CAPTURE(hex);
    const auto bytes = bytes_of_hex(hex);
    MsgpackReader reader(bytes);
    CHECK(reader.read_timestamp() == MsgpackTimestamp{});
    CHECK(reader.failed());
  }
}

TEST_CASE("msgpack: the limits of bytes, elements and depth are kept by reading and by skipping") {
  const auto bytes = bytes_of_hex(
      "92019203"
      "8104c0");  // [1, [3, {4: nil}]]
  const auto reads = [&](MsgpackLimits limits) {
    MsgpackReader reader(bytes, limits);
    reader.read_array();
    reader.read_int();
    reader.read_array();
    reader.read_int();
    reader.read_map();
    reader.read_int();
    reader.read_nil();
    return reader.finish().has_value();
  };
  const auto passes = [&](MsgpackLimits limits) {
    MsgpackReader reader(bytes, limits);
    reader.skip();
    return reader.finish().has_value();
  };
  CHECK(reads({.depth = 3, .elements = 6, .bytes = 7}));
  CHECK(passes({.depth = 3, .elements = 6, .bytes = 7}));
  CHECK_FALSE(reads({.depth = 2}));
  CHECK_FALSE(reads({.elements = 5}));
  CHECK_FALSE(passes({.elements = 5}));
  CHECK_FALSE(reads({.bytes = 6}));
  CHECK_FALSE(passes({.bytes = 6}));
}

TEST_CASE("msgpack: each first byte is of one class, and the compiler knows it") {
  using Code = MsgpackCode;
  static_assert(Code::is_fixint(0x7f) && Code::is_fixint(0xe0) && !Code::is_fixint(0x80));
  static_assert(Code::is_fixext(0xd4) && Code::is_ext(0xc9) && !Code::is_ext(0xd9));
  static_assert(Code::kind(Code::kNeverUsed) == MsgpackKind::none);
  for (int byte = 0; byte < 256; ++byte) {
    CAPTURE(byte);
    const auto code = static_cast<std::uint8_t>(byte);
    const int classes = int{code == Code::kNil} + int{Code::is_bool(code)} +
                        int{Code::is_integer(code)} + int{Code::is_float(code)} +
                        int{Code::is_str(code)} + int{Code::is_bin(code)} +
                        int{Code::is_array(code)} + int{Code::is_map(code)} +
                        int{Code::is_ext(code)} + int{code == Code::kNeverUsed};
    CHECK(classes == 1);
  }
}

}  // namespace
}  // namespace orlop
