#include "core/upload_id.h"

#include <catch2/catch.hpp>
#include <unordered_set>

#include "core/digester.h"

namespace orlop {
namespace {

TEST_CASE("upload id: what is made is read back") {
  Random random(1);
  const auto id = UploadId::make(random, "origin1:15002");
  const auto read = UploadId::parse(id.text());
  REQUIRE(read);
  CHECK(*read == id);
}

TEST_CASE("upload id: ends in the first digits of its node's label hashed") {
  Random random(2);
  const auto id = UploadId::make(random, "origin1:15002");
  CHECK(id.text().size() == UploadId::kTextBytes);
  CHECK(id.text().substr(32) == "-" + digest_of("origin1:15002").hex().substr(0, 8));
}

TEST_CASE("upload id: no two are alike") {
  Random random(3);
  std::unordered_set<UploadId> ids;
  for (int i = 0; i < 1000; ++i) ids.insert(UploadId::make(random, "origin1:15002"));
  CHECK(ids.size() == 1000);
}

TEST_CASE("upload id: no single foreign character gets in, wherever it stands") {
  Random random(4);
  const auto id = UploadId::make(random, "origin1:15002").text();
  for (std::size_t i = 0; i < id.size(); ++i) {
    for (int byte = 0; byte < 256; ++byte) {
      auto text = id;
      text[i] = static_cast<char>(byte);
      const bool is_lower_hex = (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'f');
      const bool want = i == 32 ? byte == '-' : is_lower_hex;
      if (UploadId::parse(text).has_value() != want) FAIL("byte " << byte << " at " << i);
    }
  }
}

TEST_CASE("upload id: refuses other lengths, UUIDs and paths") {
  const std::string good = "0123456789abcdef0123456789abcdef-01234567";
  REQUIRE(UploadId::parse(good));
  for (const auto& text :
       {std::string(), std::string(".."), std::string("../../etc/passwd"), good + "0",
        good.substr(1), good + "/", good + std::string(1, '\0'),
        std::string("00000000-0000-0000-0000-000000000000"), std::string(100'000, 'a')}) {
    const auto refused = UploadId::parse(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::invalid_argument);
    CHECK(refused.error().detail().size() < 200);
  }
}

}  // namespace
}  // namespace orlop
