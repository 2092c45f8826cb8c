#include "origin/blob_settlement.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <string>

#include "core/digester.h"
#include "store/blob_hash.h"
#include "tests/base/manual_clock.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {
namespace {

constexpr std::int64_t kNow = 1'796'000'000;  // ManualClock's.

std::unique_ptr<Catalogue> opened_in(const std::filesystem::path& folder, const Clock& clock) {
  auto opened = Catalogue::open({.path = folder / "db", .clock = &clock});
  REQUIRE(opened);
  return *std::move(opened);
}

/// A settlement over an empty store. Blobs of any size can be unverified.
struct Settled {
  explicit Settled(BlobSettlementOptions options = {.hash_first_bytes_max = 0})
      : settlement(disk, clock, files, *catalogue, claims, folder.lengths, folder.layout, options) {
  }

  /// A file as a Kraken origin leaves it, under the name of `bytes`.
  Digest leave(const std::string& bytes) {
    const auto digest = digest_of(bytes);
    write_file(folder.layout.blob(digest), bytes);
    return digest;
  }
  void leave_sidecar(Digest digest, const std::string& name, const std::string& text) {
    write_file(folder.layout.blob_folder(digest) / name, text);
  }
  /// And its `_torrentmeta`, cut into pieces of 4.
  Digest leave_with_metainfo(const std::string& bytes) {
    const auto digest = leave(bytes);
    leave_sidecar(digest, "_torrentmeta", metainfo_of(bytes).json());
    return digest;
  }
  MetaInfo metainfo_of(const std::string& bytes) {
    const auto path = folder.directory.path() / "scratch";
    write_file(path, bytes);
    const auto file = disk.open_for_reading(path);
    REQUIRE(file);
    auto made = hash_blob(disk, *file, std::uint64_t{4});
    REQUIRE(made);
    return *std::move(made);
  }
  Presence presence(Digest digest) {
    const auto found = settlement.inspect(digest);
    REQUIRE(found);
    return found->presence;
  }
  Presence touch(Digest digest) {
    const auto claim = claims.try_claim(digest);
    REQUIRE(claim);
    const auto presence = settlement.settle_for_reading(digest);
    REQUIRE(presence);
    return *presence;
  }
  BlobRecord record(Digest digest) {
    const auto record = catalogue->blob(digest);
    REQUIRE(record);
    return *record;
  }
  Indexed index(Digest digest) {
    const auto indexed = settlement.index(digest);
    REQUIRE(indexed);
    return *indexed;
  }
  std::ptrdiff_t reads_of_blobs() {
    const auto calls = disk.log().calls();
    return std::count_if(calls.begin(), calls.end(), [](const CallLog::Call& call) {
      return call.name == "read" && call.path.filename() == "data";
    });
  }
  bool quarantined(Digest digest) {
    const auto names = names_in(folder.layout.blob_folder(digest));
    return !names.contains("data") && std::any_of(names.begin(), names.end(), [](const auto& name) {
      return name.starts_with("data.quarantined-");
    });
  }

  StoreFolder folder;
  WatchedDisk disk;
  ManualClock clock;
  std::unique_ptr<Catalogue> catalogue = opened_in(folder.directory.path(), clock);
  BlobFiles files{disk, clock, folder.layout};
  DigestClaims claims;
  BlobSettlement settlement;
};

TEST_CASE("settlement: a blob with a sidecar is recorded at its first touch without being read") {
  Settled store;
  const auto digest = store.leave_with_metainfo("with a sidecar");
  CHECK(store.presence(digest) == Presence::unsettled);
  store.disk.log().clear();

  CHECK(store.touch(digest) == Presence::unverified);

  CHECK(store.presence(digest) == Presence::unverified);
  CHECK(store.reads_of_blobs() == 0);
  CHECK_FALSE(store.record(digest).fingerprint);
  CHECK_FALSE(store.record(digest).backed);
  CHECK_FALSE(store.record(digest).pinned);
  CHECK(store.catalogue->metainfo(digest)->piece_length() == 4);
  CHECK(store.catalogue->usage()->blobs == 1);
}

TEST_CASE("settlement: the first touch waits for no sync, and a sync covers file and names") {
  Settled store;
  const auto digest = store.leave_with_metainfo("durable");
  store.disk.log().clear();
  CHECK(store.touch(digest) == Presence::unverified);
  CHECK(store.disk.log().count("sync_data") == 0);
  CHECK(store.disk.log().count("sync_directory") == 0);

  const auto found = store.settlement.inspect(digest);
  CHECK(store.settlement.sync(digest, found->file));
  CHECK(store.disk.log().count("sync_data") == 1);
  CHECK(store.disk.log().count("sync_directory") == 4);
  store.disk.refuse(GENERATE("sync_data", "sync_directory"), EIO);
  CHECK_FALSE(store.settlement.sync(digest, found->file));
  CHECK_FALSE(store.settlement.settle(digest));  // So nobody is told that it is here.
}

TEST_CASE("settlement: verifying renews the fingerprint of right bytes and sets wrong ones aside") {
  Settled store;
  const auto right = store.leave_with_metainfo("right bytes");
  const auto wrong = store.leave_with_metainfo("wrong bytes");
  write_file(store.folder.layout.blob(wrong), "wrong b?tes");
  store.touch(right);
  store.touch(wrong);

  const auto verified = store.settlement.verify(right, {});
  REQUIRE(verified);
  CHECK(verified == store.record(right).fingerprint);
  CHECK_FALSE(store.settlement.verify(wrong, {}));

  CHECK(store.presence(right) == Presence::here);
  CHECK(store.presence(wrong) == Presence::absent);
  CHECK(store.quarantined(wrong));
  CHECK(store.catalogue->usage()->blobs == 1);
}

TEST_CASE(
    "settlement: verifying leaves a digest alone that somebody claimed, or when it is stopped") {
  Settled store;
  const auto digest = store.leave_with_metainfo("busy");
  store.touch(digest);
  {
    const auto claim = store.claims.try_claim(digest);
    CHECK_FALSE(store.settlement.verify(digest, {}));
  }
  std::stop_source stop;
  stop.request_stop();
  CHECK_FALSE(store.settlement.verify(digest, stop.get_token()));
  CHECK(store.presence(digest) == Presence::unverified);
}

TEST_CASE("settlement: a touched file is unverified until it is hashed, and keeps its metainfo") {
  Settled store;
  const auto digest = store.leave_with_metainfo("touched");
  store.touch(digest);
  REQUIRE(store.settlement.verify(digest, {}));
  std::filesystem::last_write_time(store.folder.layout.blob(digest),
                                   std::filesystem::file_time_type::clock::now());

  CHECK(store.presence(digest) == Presence::unverified);
  CHECK(store.touch(digest) == Presence::unverified);
  CHECK(*store.settlement.settle(digest));
  CHECK(store.presence(digest) == Presence::here);
  CHECK(store.catalogue->metainfo(digest)->piece_length() == 4);
}

TEST_CASE("settlement: wrong sums of a sidecar are replaced and the right bytes stay") {
  Settled store;
  const auto digest = store.leave("twelve bytes");
  const auto lie = MetaInfo::make(digest, 12, 4, {1, 2, 3});
  store.leave_sidecar(digest, "_torrentmeta", lie->json());
  CHECK(store.touch(digest) == Presence::unverified);

  CHECK(*store.settlement.settle_by_hashing(digest));

  CHECK(store.presence(digest) == Presence::here);
  CHECK(store.catalogue->metainfo(digest)->infohash() ==
        store.metainfo_of("twelve bytes").infohash());
}

TEST_CASE("settlement: what cannot be compared piece by piece is hashed at the first touch") {
  Settled store({.hash_first_bytes_max = 3, .checked_piece_bytes_max = 8});
  const auto small = store.leave_with_metainfo("abc");
  const auto bare = store.leave("no sidecar");
  const auto coarse = store.leave("twelve bytes");
  store.leave_sidecar(coarse, "_torrentmeta", MetaInfo::make(coarse, 12, 9, {1, 2})->json());
  for (const auto digest : {small, bare, coarse}) CHECK(store.touch(digest) == Presence::here);
  CHECK(store.catalogue->metainfo(coarse)->piece_length() == 9);
}

TEST_CASE("settlement: a file of another size than recorded is never unverified") {
  Settled store;
  const auto digest = store.leave_with_metainfo("as long as this");
  store.touch(digest);
  write_file(store.folder.layout.blob(digest), "shorter");
  CHECK(store.presence(digest) == Presence::unsettled);
  CHECK(store.touch(digest) == Presence::absent);
  CHECK(store.quarantined(digest));
}

TEST_CASE("settlement: the time of the last use comes from the sidecar, but not from the future") {
  Settled store;
  const auto used = GENERATE(table<std::int64_t, std::int64_t>({{kNow - 7200, kNow - 7200},
                                                                {kNow + 7200, kNow},
                                                                {-1, 0},
                                                                {INT64_MIN, 0},
                                                                {INT64_MAX, kNow}}));
  const bool metainfo = GENERATE(true, false);
  const auto digest = metainfo ? store.leave_with_metainfo("used") : store.leave("used");
  store.leave_sidecar(digest, "_last_access_time", encode_last_access_time(std::get<0>(used)));
  store.touch(digest);

  const auto hour = static_cast<std::uint32_t>(std::get<1>(used) / 3600);
  CHECK(*store.catalogue->oldest_accesses(0, std::nullopt, 2) ==
        std::vector<Access>{{hour, digest}});
}

TEST_CASE("settlement: a persisted blob is pinned, however it is adopted, and stays so") {
  Settled store;
  const bool metainfo = GENERATE(true, false);
  const auto word = GENERATE(std::string("true"), std::string("1"), std::string());
  CAPTURE(metainfo, word);
  const auto digest = metainfo ? store.leave_with_metainfo("owed") : store.leave("owed");
  store.leave_sidecar(digest, "_persist", word);
  store.touch(digest);
  CHECK(store.record(digest).pinned);
  REQUIRE(store.settlement.settle(digest));
  CHECK(store.record(digest).pinned);

  const auto free = store.leave_with_metainfo("free");
  store.leave_sidecar(free, "_persist", "false");
  store.touch(free);
  CHECK_FALSE(store.record(free).pinned);
}

TEST_CASE("settlement: the indexer is told what became of each file") {
  Settled store;
  const auto with = store.leave_with_metainfo("with");
  const auto without = store.leave("without");
  const auto bad = store.leave("bad");
  write_file(store.folder.layout.blob(bad), "worse");
  store.disk.log().clear();
  CHECK(store.index(with) == Indexed::recorded);
  CHECK(store.disk.log().count("sync_data") == 0);
  CHECK(store.reads_of_blobs() == 0);
  CHECK(store.index(with) == Indexed::known);
  CHECK(store.index(without) == Indexed::hashed);
  CHECK(store.presence(without) == Presence::here);
  CHECK(store.index(bad) == Indexed::quarantined);
  CHECK(store.quarantined(bad));
  CHECK(store.index(bad) == Indexed::absent);
  CHECK(store.index(digest_of("nowhere")) == Indexed::absent);

  const auto busy = store.leave("busy");
  const auto claim = store.claims.try_claim(busy);
  CHECK(store.index(busy) == Indexed::in_use);
}

}  // namespace
}  // namespace orlop
