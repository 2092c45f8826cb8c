#include "cluster/murmur3.h"

#include <catch2/catch.hpp>
#include <string>

namespace orlop {
namespace {

TEST_CASE("murmur3: the original's values") {
  // From runs of the original's library, spaolacci/murmur3 (kraken-formats-and-store.md, 4.1).
  CHECK(murmur3_h1("") == 0);
  CHECK(murmur3_h1("a") == 0x85555565f6597889);
  CHECK(murmur3_h1("abc") == 0xb4963f3f3fad7867);
  CHECK(murmur3_h1("hello") == 0xcbd8a7b341bd9b02);
  CHECK(murmur3_h1("The quick brown fox jumps over the lazy dog") == 0xe34bbc7bbc071b6c);
  CHECK(murmur3_h1("\xe3\xb0origin1:15002") == 0xda9f8b23cfa57be0);
}

TEST_CASE("murmur3: bytes above 127 and every length of a tail count") {
  std::string text;
  std::uint64_t before = murmur3_h1(text);
  for (int i = 0; i < 64; ++i) {
    text += '\xff';
    const auto now = murmur3_h1(text);
    CHECK(now != before);
    before = now;
  }
}

}  // namespace
}  // namespace orlop
