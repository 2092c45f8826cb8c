#include "metadata/catalogue.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "tests/base/manual_clock.h"
#include "tests/base/temporary_directory.h"
#include "tests/metadata/sample_blobs.h"

namespace orlop {
namespace {

struct Opened {
  TemporaryDirectory directory;
  ManualClock clock;
  CatalogueOptions options{.path = directory.path() / "db", .clock = &clock};
  std::unique_ptr<Catalogue> catalogue = open_catalogue(options);

  void reopen() {
    catalogue.reset();
    catalogue = open_catalogue(options);
  }
};

std::vector<Digest> sorted_samples(int count) {
  std::vector<Digest> digests;
  for (int i = 0; i < count; ++i) digests.push_back(sample_digest(i));
  std::sort(digests.begin(), digests.end());
  return digests;
}

TEST_CASE("catalogue: what was committed is there, also after a restart") {
  Opened db;
  REQUIRE(commit_group(*db.catalogue, {1, 2}));

  for (int round = 0; round < 2; ++round) {
    const auto blob = db.catalogue->blob(sample_digest(1));
    REQUIRE(blob);
    CHECK(blob->size_bytes == 8);
    CHECK(blob->committed_at == 1'796'000'000);
    const auto metainfo = db.catalogue->metainfo(sample_digest(2));
    REQUIRE(metainfo);
    CHECK(metainfo->json() == sample_metainfo(sample_digest(2)).json());
    CHECK(fails_with(db.catalogue->blob(sample_digest(3)), Errc::not_found));
    CHECK(fails_with(db.catalogue->metainfo(sample_digest(3)), Errc::not_found));
    db.reopen();
  }
}

TEST_CASE("catalogue: a commit again replaces the record and keeps what it does not bring") {
  Opened db;
  REQUIRE(commit_one(*db.catalogue, 1));
  const CommitEntry again{sample_blob(7), nullptr, std::nullopt, sample_digest(1)};
  REQUIRE(db.catalogue->commit({&again, 1}));

  const auto blob = db.catalogue->blob(sample_digest(1));
  REQUIRE(blob);
  CHECK(blob->fingerprint == sample_fingerprint(7));
  CHECK(db.catalogue->metainfo(sample_digest(1)));
}

TEST_CASE("catalogue: a removed blob leaves nothing behind") {
  Opened db;
  const auto digest = sample_digest(1);
  const auto metainfo = sample_metainfo(digest);
  const CommitEntry entry{sample_blob(1), &metainfo,
                          TaskRecord{TaskKind::write_back, digest, "a", {}, 0}, digest};
  REQUIRE(db.catalogue->commit({&entry, 1}));
  REQUIRE(db.catalogue->add_task({TaskKind::replicate, digest, "b", {}, 0}));
  REQUIRE(db.catalogue->add_task({TaskKind::write_back, sample_digest(2), "a", {}, 0}));

  CHECK(db.catalogue->remove(digest));
  CHECK(db.catalogue->remove(digest));

  CHECK(fails_with(db.catalogue->blob(digest), Errc::not_found));
  CHECK(fails_with(db.catalogue->metainfo(digest), Errc::not_found));
  CHECK((*db.catalogue->tasks(digest)).empty());
  CHECK((*db.catalogue->tasks(sample_digest(2))).size() == 1);  // Another blob's stays.
  CHECK((*db.catalogue->oldest_accesses(0, std::nullopt, 10)).empty());
  CHECK(*db.catalogue->usage() == Usage{});
}

TEST_CASE("catalogue: usage is exact after any commits, commits again and removals") {
  Opened db;
  std::mt19937 random(20261130);
  std::map<int, std::uint64_t> model;
  for (int round = 0; round < 1500; ++round) {
    const int number = static_cast<int>(random() % 40);
    if (random() % 3 == 0) {
      REQUIRE(db.catalogue->remove(sample_digest(number)));
      model.erase(number);
    } else {
      std::vector<int> group{number};
      if (const int other = static_cast<int>(random() % 40); other != number)
        group.push_back(other);
      const std::uint64_t blocks = random() % 5000;
      REQUIRE(commit_group(*db.catalogue, group, 0, blocks));
      for (const int member : group) model[member] = blocks;
    }
    if (round % 500 == 250) db.reopen();
    if (round % 10 != 0) continue;
    Usage want{model.size(), 0};
    for (const auto& [member, blocks] : model) want.blocks += blocks;
    const auto usage = db.catalogue->usage();
    REQUIRE(usage);
    REQUIRE(*usage == want);
  }
}

TEST_CASE("catalogue: usage is exact when threads change the same blobs at once") {
  Opened db;
  std::vector<std::thread> threads;
  for (unsigned seed = 1; seed <= 4; ++seed) {
    threads.emplace_back([&db, seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 300; ++round) {
        const auto digest = sample_digest(static_cast<int>(random() % 4));
        if (random() % 2 == 0) {
          if (!db.catalogue->remove(digest)) std::abort();
          continue;
        }
        const CommitEntry entry{sample_blob(1, random() % 100), nullptr, std::nullopt, digest};
        if (!db.catalogue->commit({&entry, 1}, seed)) std::abort();
      }
    });
  }
  for (auto& thread : threads) thread.join();

  const auto blobs = db.catalogue->list(std::nullopt, 100);
  REQUIRE(blobs);
  Usage want{blobs->size(), 0};
  for (const auto& [digest, blob] : *blobs) want.blocks += blob.blocks;
  CHECK(*db.catalogue->usage() == want);
  CHECK((*db.catalogue->oldest_accesses(0, std::nullopt, 100)).size() == blobs->size());
}

TEST_CASE("catalogue: metainfo is put for recorded blobs only") {
  Opened db;
  const auto digest = sample_digest(1);
  CHECK(fails_with(db.catalogue->put_metainfo(sample_metainfo(digest)), Errc::not_found));
  CHECK(fails_with(db.catalogue->metainfo(digest), Errc::not_found));

  REQUIRE(commit_one(*db.catalogue, 1));
  const auto other = MetaInfo::make(digest, 8, 8, {9});
  REQUIRE(other);
  CHECK(db.catalogue->put_metainfo(*other));
  CHECK((*db.catalogue->metainfo(digest)).piece_length() == 8);
}

TEST_CASE("catalogue: fingerprints are renewed and dropped, and never make a record") {
  Opened db;
  const auto digest = sample_digest(1);
  CHECK(
      fails_with(db.catalogue->renew_fingerprint(digest, sample_fingerprint(2)), Errc::not_found));
  CHECK(db.catalogue->drop_fingerprint(digest));
  CHECK(fails_with(db.catalogue->blob(digest), Errc::not_found));

  REQUIRE(commit_one(*db.catalogue, 1));
  REQUIRE(db.catalogue->renew_fingerprint(digest, sample_fingerprint(2)));
  CHECK((*db.catalogue->blob(digest)).fingerprint == sample_fingerprint(2));
  REQUIRE(db.catalogue->drop_fingerprint(digest));
  CHECK_FALSE(has_fingerprint(*db.catalogue, 1));
  CHECK((*db.catalogue->blob(digest)).size_bytes == 8);
}

TEST_CASE("catalogue: tasks are found by kind, digest and namespace") {
  Opened db;
  const auto digest = sample_digest(1);
  const auto metainfo = sample_metainfo(digest);
  const TaskRecord first{TaskKind::write_back, digest, "library/a", std::chrono::minutes(1), 10};
  const CommitEntry entry{sample_blob(1), &metainfo, first, digest};
  REQUIRE(db.catalogue->commit({&entry, 1}));
  const TaskRecord second{TaskKind::replicate, digest, "", {}, 20};
  REQUIRE(db.catalogue->add_task(second));
  const TaskRecord third{TaskKind::write_back, digest, "library", {}, 30};
  REQUIRE(db.catalogue->add_task(third));
  db.reopen();

  CHECK(*db.catalogue->tasks(digest) == std::vector<TaskRecord>{third, first, second});
  CHECK((*db.catalogue->tasks(sample_digest(2))).empty());
  CHECK(*db.catalogue->has_task(TaskKind::write_back, digest, "library/a"));
  CHECK(*db.catalogue->has_task(TaskKind::replicate, digest, ""));
  CHECK_FALSE(*db.catalogue->has_task(TaskKind::write_back, digest, "library/"));
  CHECK_FALSE(*db.catalogue->has_task(TaskKind::replicate, digest, "library"));

  auto later = third;
  later.created_at = 31;
  REQUIRE(db.catalogue->add_task(later));
  CHECK(*db.catalogue->tasks(digest) == std::vector<TaskRecord>{later, first, second});
}

TEST_CASE("catalogue: a list goes through all blobs in order, page by page") {
  Opened db;
  for (int i = 0; i < 25; ++i) REQUIRE(commit_one(*db.catalogue, i));

  std::vector<Digest> listed;
  std::optional<Digest> after;
  while (true) {
    const auto page = db.catalogue->list(after, 10);
    REQUIRE(page);
    if (page->empty()) break;
    CHECK(page->size() <= 10);
    for (const auto& [digest, blob] : *page) listed.push_back(digest);
    after = listed.back();
  }
  CHECK(listed == sorted_samples(25));

  // After a digest that is not here: from the next one on.
  REQUIRE(db.catalogue->remove(listed[4]));
  const auto page = db.catalogue->list(listed[4], 1);
  REQUIRE(page);
  REQUIRE(page->size() == 1);
  CHECK(page->front().first == listed[5]);
}

TEST_CASE("catalogue: accesses come longest unused first, page by page, one entry a blob") {
  Opened db;
  const auto hour = db.catalogue->current_hour();
  CHECK(hour == 1'796'000'000 / 3600);
  for (int i = 0; i < 6; ++i) REQUIRE(commit_one(*db.catalogue, i));
  db.clock.advance(std::chrono::hours(2));
  REQUIRE(db.catalogue->record_accesses(std::vector<Access>{
      {hour + 1, sample_digest(0)}, {hour + 2, sample_digest(1)}, {hour + 2, sample_digest(99)}}));
  REQUIRE(commit_one(*db.catalogue, 2));  // A commit is a use.

  std::vector<Access> want;
  for (const int i : {3, 4, 5}) want.push_back({hour, sample_digest(i)});
  std::sort(want.begin(), want.end(), [](auto& a, auto& b) { return a.digest < b.digest; });
  want.push_back({hour + 1, sample_digest(0)});
  want.push_back({hour + 2, std::min(sample_digest(1), sample_digest(2))});
  want.push_back({hour + 2, std::max(sample_digest(1), sample_digest(2))});
  CHECK(*db.catalogue->oldest_accesses(0, std::nullopt, 100) == want);

  std::vector<Access> paged;
  auto page = db.catalogue->oldest_accesses(0, std::nullopt, 2);
  while (page && !page->empty()) {
    CHECK(page->size() <= 2);
    paged.insert(paged.end(), page->begin(), page->end());
    page = db.catalogue->oldest_accesses(paged.back().hour, paged.back().digest, 2);
  }
  REQUIRE(page);
  CHECK(paged == want);
  CHECK((*db.catalogue->oldest_accesses(hour + 1, std::nullopt, 100)).size() == 3);
}

TEST_CASE("catalogue: a blob may come with the hour of its last use, but not with one to come") {
  Opened db;
  const auto hour = db.catalogue->current_hour();
  const auto commit = [&](int number, std::uint32_t used) {
    const CommitEntry entry{.blob = sample_blob(number),
                            .metainfo = nullptr,
                            .task = std::nullopt,
                            .digest = sample_digest(number),
                            .used_hour = used};
    return db.catalogue->commit({&entry, 1});
  };
  REQUIRE(commit(1, hour - 100));
  REQUIRE(commit(2, hour + 100));

  CHECK(*db.catalogue->oldest_accesses(0, std::nullopt, 3) ==
        std::vector<Access>{{hour - 100, sample_digest(1)}, {hour, sample_digest(2)}});
}

TEST_CASE("catalogue: an access never goes back, unless the clock was ahead") {
  Opened db;
  const auto hour = db.catalogue->current_hour();
  const auto accessed = [&] { return (*db.catalogue->oldest_accesses(0, std::nullopt, 2)); };
  REQUIRE(commit_one(*db.catalogue, 1));

  REQUIRE(db.catalogue->record_accesses(std::vector<Access>{{hour - 1, sample_digest(1)}}));
  CHECK(accessed() == std::vector<Access>{{hour, sample_digest(1)}});

  db.clock.advance(std::chrono::hours(1000));
  REQUIRE(db.catalogue->record_accesses(
      std::vector<Access>{{db.catalogue->current_hour(), sample_digest(1)}}));
  db.clock.advance(-std::chrono::hours(1000));
  CHECK(accessed().front().hour == hour + 1000);
  REQUIRE(db.catalogue->record_accesses(std::vector<Access>{{hour, sample_digest(1)}}));
  CHECK(accessed() == std::vector<Access>{{hour, sample_digest(1)}});
}

TEST_CASE("catalogue: a damaged database is corrupt, and the error says what to do") {
  const std::string damage = GENERATE("MANIFEST", "CURRENT", ".sst");
  CAPTURE(damage);
  Opened db;
  REQUIRE(commit_one(*db.catalogue, 1));
  db.reopen();  // Moves the record from the log to a table.
  db.catalogue.reset();
  for (const auto& entry : std::filesystem::directory_iterator(db.options.path)) {
    const auto& path = entry.path();
    if (path.filename().string().find(damage) == std::string::npos) continue;
    if (damage == ".sst") {
      std::filesystem::remove(path);
      continue;
    }
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(std::filesystem::file_size(path) / 2));
    file.put('\x5a');
  }

  const auto opened = Catalogue::open(db.options);

  INFO((opened ? "opened" : opened.error().detail()));
  REQUIRE(fails_with(opened, Errc::corrupt));
  CHECK(opened.error().detail().find("move this folder away") != std::string::npos);
}

TEST_CASE("catalogue: a second one in the same folder is refused") {
  Opened db;
  CHECK_FALSE(Catalogue::open(db.options));
  CHECK(commit_one(*db.catalogue, 1));
}

TEST_CASE("catalogue: RocksDB writes no log file of its own") {
  Opened db;
  REQUIRE(commit_one(*db.catalogue, 1));
  for (const auto& file : std::filesystem::directory_iterator(db.options.path)) {
    CHECK_FALSE(file.path().filename().string().starts_with("LOG"));
  }
}

}  // namespace
}  // namespace orlop
