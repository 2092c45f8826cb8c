#include "store/memory_store.h"

#include <catch2/catch.hpp>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "core/digester.h"

namespace orlop {
namespace {

MemoryBlob memory_blob(const std::string& text, std::size_t capacity = 0) {
  MemoryBlob blob;
  blob.bytes.reserve(capacity);
  for (const char c : text) blob.bytes.push_back(static_cast<std::byte>(c));
  blob.metainfo =
      std::make_shared<const MetaInfo>(*MetaInfo::make(digest_of(text), text.size(), 4096, {1}));
  return blob;
}

TEST_CASE("memory store: a blob is found from put to remove, and its reader keeps it") {
  MemoryStore store(1 << 20);
  const auto digest = digest_of("one");
  CHECK(store.find(digest) == nullptr);
  REQUIRE(store.put(memory_blob("one")));
  REQUIRE(store.put(memory_blob("one")));
  const auto reader = store.find(digest);
  REQUIRE(reader != nullptr);
  CHECK(store.has(digest));
  CHECK(store.use().blobs == 1);
  store.remove(digest);
  store.remove(digest);
  CHECK_FALSE(store.has(digest));
  CHECK(reader->bytes.size() == 3);
  CHECK(store.use().bytes == 0);
}

TEST_CASE("memory store: what a blob takes counts, and not how long it is") {
  MemoryStore store(100'000);
  CHECK_FALSE(store.put(memory_blob("small, in a large buffer", 200'000)));
  REQUIRE(store.put(memory_blob("small, in a fitting one", 90'000)));
  CHECK(store.use().bytes > 90'000);
  CHECK_FALSE(store.put(memory_blob("no room for this", 20'000)));
  CHECK(store.use().blobs == 1);
  store.remove(digest_of("small, in a fitting one"));
  CHECK(store.put(memory_blob("now there is room", 20'000)));
}

TEST_CASE("memory store: without a budget nothing enters") {
  MemoryStore store(0);
  CHECK_FALSE(store.put(memory_blob("one")));
}

}  // namespace
}  // namespace orlop
