#include "metadata/records.h"

#include <catch2/catch.hpp>
#include <chrono>
#include <fstream>
#include <limits>
#include <string>

#include "base/hex.h"
#include "core/digester.h"
#include "metadata/keys.h"
#include "metadata/usage_merge.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

/// The bytes of an example of docs/formats.md: the line that begins with its name.
std::string example(const std::string& name) {
  std::ifstream page(ORLOP_SOURCE_DIR "/docs/formats.md");
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with(name + " ") || line.find(":=") != line.npos) continue;
    auto hex = line.substr(name.size());
    std::erase(hex, ' ');
    return bytes_of_hex(hex);
  }
  FAIL("docs/formats.md has no example " << name);
  return {};
}

Digest hello() { return digest_of("hello world"); }

BlobRecord blob_example() {
  return {11,   8,     1'796'000'000,
          true, false, Fingerprint{42, 11, 1'796'000'000'123'456'789, 1'796'000'000'123'456'790}};
}

MetaInfo metainfo_example() {
  auto made = MetaInfo::make(hello(), 11, 4, {1, 0xcbf43926, 3});
  REQUIRE(made);
  return *std::move(made);
}

TaskRecord task_example() {
  return {TaskKind::write_back, hello(), "library/hello", std::chrono::minutes(10), 1'796'000'000};
}

ScrubRecord scrub_example() {
  return {.started_at = 1'796'000'000,
          .finished_at = std::nullopt,
          .cursor = hello(),
          .blobs = 1,
          .bytes = 11};
}

TEST_CASE("records: docs/formats.md shows the bytes that we write", "[golden]") {
  auto suspect = blob_example();
  suspect.backed = false;
  suspect.pinned = true;
  suspect.fingerprint.reset();
  const auto task = task_example();
  std::string hour;
  append_u32(hour, 498'888);
  append_u32(hour, 498'888);

  CHECK(encode_blob(blob_example()) == example("blob"));
  CHECK(encode_blob(suspect) == example("blob-suspect"));
  CHECK(encode_metainfo(metainfo_example()) == example("metainfo"));
  CHECK(task_key(task.kind, task.digest, task.name_space) == example("task-key"));
  CHECK(encode_task(task) == example("task"));
  CHECK(access_key(498'888, hello()) == example("access-key"));
  CHECK(hour == example("accessed"));
  CHECK(encode_usage({-1, -8}) == example("usage"));
  CHECK(last_group_key(1) == example("last-group-key"));
  CHECK(encode_scrub(scrub_example()) == example("scrub"));
  CHECK(encode_scrub({.started_at = 1'796'000'000, .finished_at = 1'796'000'000}) ==
        example("scrub-finished"));
}

TEST_CASE("records: docs/formats.md shows the bytes that we read", "[golden]") {
  const auto blob = decode_blob(example("blob"));
  REQUIRE(blob);
  CHECK(*blob == blob_example());

  const auto suspect = decode_blob(example("blob-suspect"));
  REQUIRE(suspect);
  CHECK_FALSE(suspect->fingerprint);
  CHECK_FALSE(suspect->backed);
  CHECK(suspect->pinned);

  const auto metainfo = decode_metainfo(hello(), example("metainfo"));
  REQUIRE(metainfo);
  CHECK(metainfo->json() == metainfo_example().json());

  const auto task = decode_task(example("task-key"), example("task"));
  REQUIRE(task);
  CHECK(*task == task_example());

  CHECK(decode_usage(example("usage")) == UsageDelta{-1, -8});

  const auto scrub = decode_scrub(example("scrub"));
  REQUIRE(scrub);
  CHECK(*scrub == scrub_example());
  const auto finished = decode_scrub(example("scrub-finished"));
  REQUIRE(finished);
  CHECK(finished->finished_at == 1'796'000'000);
}

TEST_CASE("records: the extremes survive") {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  const BlobRecord blob{
      kMost,  kMost >> 1,
      kLeast, false,
      true,   Fingerprint{kMost, kMost, kLeast, std::numeric_limits<std::int64_t>::max()}};
  const auto decoded = decode_blob(encode_blob(blob));
  REQUIRE(decoded);
  CHECK(*decoded == blob);

  const TaskRecord task{TaskKind::replicate, hello(), std::string("\0\xff", 2),
                        std::chrono::nanoseconds(kLeast), kLeast};
  const auto key = task_key(task.kind, task.digest, task.name_space);
  const auto task_decoded = decode_task(key, encode_task(task));
  REQUIRE(task_decoded);
  CHECK(*task_decoded == task);

  const auto empty = MetaInfo::make(digest_of(""), 0, 4, {});
  REQUIRE(empty);
  const auto empty_decoded = decode_metainfo(digest_of(""), encode_metainfo(*empty));
  REQUIRE(empty_decoded);
  CHECK(empty_decoded->json() == empty->json());
}

/// That the record is refused as corrupt in every way in which it can be damaged as a whole.
template <class Decode>
void check_refusals(const std::string& whole, Decode decode) {
  REQUIRE(decode(whole));
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    CAPTURE(cut);
    const auto decoded = decode(whole.substr(0, cut));
    REQUIRE_FALSE(decoded);
    CHECK(decoded.error().code() == Errc::corrupt);
  }
  CHECK_FALSE(decode(whole + '\0'));
  auto version = whole;
  version[1] = 2;
  CHECK_FALSE(decode(version));
  auto shorter = whole;
  --shorter[0];
  CHECK_FALSE(decode(shorter));
  auto map = whole;
  map[0] = static_cast<char>(0x80 | (whole[0] & 15));
  CHECK_FALSE(decode(map));
}

TEST_CASE("records: what is cut, too long, or of another version or shape is refused") {
  check_refusals(encode_blob(blob_example()), [](const std::string& b) { return decode_blob(b); });
  check_refusals(example("blob-suspect"), [](const std::string& b) { return decode_blob(b); });
  check_refusals(encode_metainfo(metainfo_example()),
                 [](const std::string& b) { return decode_metainfo(hello(), b); });
  check_refusals(encode_task(task_example()),
                 [](const std::string& b) { return decode_task(example("task-key"), b); });
  check_refusals(example("scrub"), [](const std::string& b) { return decode_scrub(b); });
  check_refusals(example("scrub-finished"), [](const std::string& b) { return decode_scrub(b); });
}

TEST_CASE("records: a field of the wrong kind or out of its range is refused") {
  const auto refused_blob = [](const std::string& hex) {
    const auto decoded = decode_blob(bytes_of_hex(hex));
    return !decoded && decoded.error().code() == Errc::corrupt;
  };
  CHECK_FALSE(refused_blob("97010b0800c2c2c0"));
  CHECK(refused_blob("9701ff0800c2c2c0"));                  // Size below zero.
  CHECK(refused_blob("97010b0800c0c2c0"));                  // Backed is nil.
  CHECK(refused_blob("97010b0800c2c0c0"));                  // Pinned is nil.
  CHECK(refused_blob("97010b0800c2c2c2"));                  // Fingerprint is false.
  CHECK(refused_blob("97010b0800c2c293010203"));            // Fingerprint of three.
  CHECK(refused_blob("97010bcf800000000000000000c2c2c0"));  // Blocks of 2^63.

  const auto refused_metainfo = [](const std::string& hex) {
    const auto decoded = decode_metainfo(hello(), bytes_of_hex(hex));
    return !decoded && decoded.error().code() == Errc::corrupt;
  };
  CHECK(refused_metainfo("9401000bc40c00000001cbf4392600000003"));  // Pieces of no length.
  CHECK(refused_metainfo("9401040bc40800000001cbf43926"));          // A sum is missing.
  CHECK(refused_metainfo("9401040bc40b00000001cbf43926000000"));    // Three quarters of a sum.

  CHECK_FALSE(decode_scrub(bytes_of_hex("9801ce6b0cc900c0c403010203010b0000")));  // Half a cursor.

  const auto refused_key = [](const std::string& key) {
    const auto decoded = decode_task(key, example("task"));
    return !decoded && decoded.error().code() == Errc::corrupt;
  };
  CHECK_FALSE(refused_key(example("task-key").substr(0, kTaskPrefixBytes)));  // No namespace.
  CHECK(refused_key(example("task-key").substr(0, kTaskPrefixBytes - 1)));
  CHECK(refused_key('\3' + example("task-key").substr(1)));
  CHECK(refused_key(""));

  CHECK_FALSE(decode_usage(std::string(15, '\0')));
  CHECK_FALSE(decode_usage(std::string(17, '\0')));
}

}  // namespace
}  // namespace orlop
