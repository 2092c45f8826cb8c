#include "core/metainfo.h"

#include <catch2/catch.hpp>
#include <limits>

#include "core/bencode.h"
#include "core/crc32.h"
#include "core/digester.h"
#include "core/piece.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

std::vector<std::uint32_t> sums_of(std::string_view bytes, std::uint64_t piece_length) {
  std::vector<std::uint32_t> sums;
  for (std::size_t at = 0; at < bytes.size(); at += piece_length) {
    sums.push_back(crc32(0, as_byte_span(bytes.substr(at, piece_length))));
  }
  return sums;
}

TEST_CASE("metainfo: digest, JSON and infohash of given bytes are the original's", "[golden]") {
  const auto vectors = golden("metainfo.json");
  REQUIRE(vectors.at("cases").size() > 100);
  for (const auto& one : vectors.at("cases")) {
    const auto size = one.at("size").get<std::size_t>();
    const auto length = one.at("piece_length").get<std::uint64_t>();
    INFO(one.at("label") << ", " << size << " bytes in pieces of " << length);
    const auto bytes =
        one.contains("content_hex") ? bytes_of_hex(one.at("content_hex")) : pattern(size);
    REQUIRE(bytes.size() == size);

    const auto digest = digest_of(bytes);
    const auto info = MetaInfo::make(digest, size, length, sums_of(bytes, length));

    REQUIRE(info);
    CHECK(digest.to_string() == one.at("digest"));
    CHECK(info->infohash().hex() == one.at("info_hash"));
    if (one.contains("metainfo_json")) {
      CHECK(info->json() == one.at("metainfo_json"));
    } else {
      CHECK(info->json().size() == one.at("metainfo_json_bytes"));
      CHECK(digest_of(info->json()).hex() == one.at("metainfo_json_sha256"));
    }

    const auto read = MetaInfo::parse_json(info->json());
    REQUIRE(read);
    CHECK(read->digest() == digest);
    CHECK(read->size_bytes() == size);
    CHECK(read->piece_length() == length);
    CHECK(std::ranges::equal(read->piece_sums(), info->piece_sums()));
    CHECK(read->json() == info->json());
    CHECK(read->infohash() == info->infohash());
  }
}

TEST_CASE("metainfo: bencodes as the original does", "[golden]") {
  // The two full texts of kraken-formats-and-store.md, 1.5.
  CHECK(bencode_info(digest_of(""), 0, 4194304, {}) ==
        "d6:Lengthi0e4:Name64:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        "11:PieceLengthi4194304e9:PieceSumslee");
  const std::vector<std::uint32_t> sums = {478544099, 3342855505, 732161222};
  CHECK(bencode_info(digest_of("hello world"), 11, 4, sums) ==
        "d6:Lengthi11e4:Name64:b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9"
        "11:PieceLengthi4e9:PieceSumsli478544099ei3342855505ei732161222eee");
}

TEST_CASE("metainfo: the original's own vector", "[golden]") {
  const auto digest =
      *Digest::parse_hex("289314c356bc2a19802c3e31505506db30ea81a0bcaea4ec3e079524c8ac3cf5");
  const auto info = MetaInfo::make(digest, 236, 4194304, {2131691452});
  REQUIRE(info);
  CHECK(info->infohash().hex() == "85b978c4377625b3963df406d0dd3a1da5a7d9c3");
}

TEST_CASE("metainfo: refuses what does not fit together") {
  constexpr auto kUint64Max = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
  const auto digest = digest_of("x");
  const auto refusal = [&](std::uint64_t size, std::uint64_t length, std::size_t sums) {
    const auto info = MetaInfo::make(digest, size, length, std::vector<std::uint32_t>(sums));
    return info ? "accepted" : info.error().detail();
  };

  CHECK(refusal(0, 0, 0) == "piece length must be positive");
  CHECK(refusal(8, 4, 2) == "accepted");
  CHECK(refusal(8, 4, 1) == "1 piece sums for 2 pieces");
  CHECK(refusal(8, 4, 3) == "3 piece sums for 2 pieces");
  CHECK(refusal(0, 4, 1) == "1 piece sums for 0 pieces");
  CHECK(refusal(kInt64Max, kInt64Max, 1) == "accepted");
  CHECK(refusal(kInt64Max + 1, kInt64Max, 2) == "blob size is above int64");
  CHECK(refusal(1, kUint64Max, 1) == "piece length is above int64");
  CHECK(refusal(kPieceCountMax + 1, 1, 0) ==
        "more than 4194304 pieces: 4194305 bytes in pieces of 1");
}

TEST_CASE("metainfo: the largest there can be is read back") {
  const std::vector<std::uint32_t> sums(kPieceCountMax, 0xffffffff);
  const auto info = MetaInfo::make(digest_of("x"), kPieceCountMax * 4096, 4096, sums);
  REQUIRE(info);
  REQUIRE(info->json().size() <= MetaInfo::kJsonBytesMax);

  const auto read = MetaInfo::parse_json(info->json());

  REQUIRE(read);
  CHECK(read->infohash() == info->infohash());
}

TEST_CASE("infohash: reads 40 lower-case digits and nothing else") {
  const std::string hex = "85b978c4377625b3963df406d0dd3a1da5a7d9c3";
  CHECK(InfoHash::parse(hex)->hex() == hex);
  for (const auto& text :
       {hex + "0", hex.substr(1), std::string(), std::string(64, 'a'),
        "85B978c4377625b3963df406d0dd3a1da5a7d9c3" + std::string(), "g" + hex.substr(1)}) {
    INFO(text);
    const auto refused = InfoHash::parse(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::invalid_argument);
  }
}

}  // namespace
}  // namespace orlop
