#include "origin/blob_listing.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <numeric>

#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/metadata/sample_blobs.h"

namespace orlop {
namespace {

struct ListedCatalogue {
  TemporaryDirectory directory;
  ManualClock clock;
  std::unique_ptr<Catalogue> catalogue =
      open_catalogue({.path = directory.path() / "db", .clock = &clock});
  asio::io_context io;
  WorkerPool pool{1, 8};
  BlobListing listing{*catalogue, pool};

  BlobListing::Page page(std::optional<Digest> after, std::size_t limit) {
    std::optional<Result<BlobListing::Page>> page;
    auto ask = [&]() -> Task<> { page.emplace(co_await listing.page(after, limit)); };
    asio::co_spawn(io, ask(), rethrow);
    io.restart();
    io.run();
    REQUIRE(page);
    REQUIRE(*page);
    return **std::move(page);
  }

  std::vector<Digest> all_in_pages_of(std::size_t limit) {
    std::vector<Digest> all;
    std::optional<Digest> after;
    for (;;) {
      const auto one = page(after, limit);
      CHECK(one.blobs.size() <= limit);
      for (const auto& blob : one.blobs) all.push_back(blob.digest);
      if (!one.next) return all;
      REQUIRE(one.blobs.size() == limit);
      REQUIRE(one.next == one.blobs.back().digest);
      after = one.next;
    }
  }
};

std::vector<Digest> commit_sorted(Catalogue& catalogue, int count) {
  std::vector<int> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  REQUIRE(commit_group(catalogue, numbers));
  std::vector<Digest> digests;
  for (const int number : numbers) digests.push_back(sample_digest(number));
  std::sort(digests.begin(), digests.end());
  return digests;
}

TEST_CASE("listing: nothing is listed where nothing is") {
  ListedCatalogue db;
  const auto page = db.page(std::nullopt, 10);
  CHECK(page.blobs.empty());
  CHECK_FALSE(page.next);
}

TEST_CASE("listing: says the size and the time of the commit of each blob") {
  ListedCatalogue db;
  REQUIRE(commit_one(*db.catalogue, 1));
  const auto page = db.page(std::nullopt, 1);
  REQUIRE(page.blobs.size() == 1);
  CHECK(page.blobs[0].digest == sample_digest(1));
  CHECK(page.blobs[0].size_bytes == 8);
  CHECK(page.blobs[0].committed_at == 1'796'000'000);
  CHECK_FALSE(page.next);
}

TEST_CASE("listing: pages of any size are every blob once, in order, and no page is empty") {
  ListedCatalogue db;
  const auto digests = commit_sorted(*db.catalogue, 12);
  for (const std::size_t limit : {1U, 2U, 3U, 5U, 11U, 12U, 13U, 1000U}) {
    CAPTURE(limit);
    CHECK(db.all_in_pages_of(limit) == digests);
  }
}

TEST_CASE("listing: a page begins after a digest that need not be here") {
  ListedCatalogue db;
  const auto digests = commit_sorted(*db.catalogue, 8);
  REQUIRE(db.catalogue->remove(digests[3]));

  const auto page = db.page(digests[3], 2);

  REQUIRE(page.blobs.size() == 2);
  CHECK(page.blobs[0].digest == digests[4]);
  CHECK(page.blobs[1].digest == digests[5]);
  CHECK(page.next == digests[5]);
  CHECK(db.page(digests[7], 2).blobs.empty());
}

}  // namespace
}  // namespace orlop
