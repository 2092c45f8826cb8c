#include "core/digester.h"

#include <catch2/catch.hpp>

#include "core/sha1.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

TEST_CASE("digester: the published SHA-256 vectors", "[golden]") {
  // FIPS 180-4 examples: the empty message of SHA256ShortMsg.rsp, "abc", and the two-block one.
  const auto [text, want] = GENERATE(table<std::string, std::string>({
      {"", "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "sha256:248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
  }));
  CHECK(digest_of(text).to_string() == want);
}

TEST_CASE("digester: portions do not matter") {
  const auto bytes = pattern(10'000);
  const auto portion = GENERATE(as<std::size_t>(), 1, 63, 64, 65, 4096);
  Digester digester;
  for (std::size_t at = 0; at < bytes.size(); at += portion) {
    digester.update(as_byte_span(std::string_view(bytes).substr(at, portion)));
  }

  CHECK(std::move(digester).finish() == digest_of(bytes));
}

TEST_CASE("digester: a copy is a checkpoint that the original cannot disturb") {
  Digester digester;
  digester.update(as_byte_span("begin "));
  const Digester checkpoint = digester;
  digester.update(as_byte_span("wrong"));

  Digester again;
  again.update(as_byte_span("forgotten"));
  again = checkpoint;
  again.update(as_byte_span("right"));

  CHECK(std::move(digester).finish() == digest_of("begin wrong"));
  CHECK(std::move(again).finish() == digest_of("begin right"));
  CHECK(Digester(checkpoint).finish() == digest_of("begin "));
}

TEST_CASE("digester: a moved one goes on where it was") {
  Digester first;
  first.update(as_byte_span("one "));
  Digester second = std::move(first);
  second.update(as_byte_span("two"));
  first = Digester();

  CHECK(std::move(second).finish() == digest_of("one two"));
  CHECK(std::move(first).finish() == digest_of(""));
}

TEST_CASE("sha1: the published vector", "[golden]") {
  // FIPS 180-4, "abc".
  CHECK(to_hex(sha1_of("abc")) == "a9993e364706816aba3e25717850c26c9cd0d89d");
}

}  // namespace
}  // namespace orlop
