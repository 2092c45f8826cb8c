#include "tests/origin/crash_rig.h"

#include <catch2/catch.hpp>
#include <thread>
#include <utility>

#include "base/hex.h"
#include "core/digester.h"
#include "origin/scrub.h"
#include "store/blob_hash.h"
#include "store/upload_table.h"
#include "tests/origin/manual_stop.h"
#include "tests/store/store_folder.h"

namespace orlop {
namespace {

namespace fs = std::filesystem;

PieceLengths small_pieces() {
  auto lengths = PieceLengths::make({{0, 4}, {100, 16}});
  REQUIRE(lengths);
  return *lengths;
}

fs::path made(const fs::path& path) {
  fs::create_directories(path);
  return path;
}

Layout layout_at(const fs::path& root, CrashRig::Disks disks) {
  Layout layout{.upload_dir = root / "upload", .cache_dir = root / "cache"};
  if (disks == CrashRig::Disks::one) return layout;
  layout.volume_upload_dirs = {root / "volume" / "cache.upload"};
  for (std::uint8_t byte = 0; byte < 16; ++byte) {
    layout.linked_shards[byte] = {.folder = root / "volume" / "cache" / to_hex({&byte, 1}),
                                  .filesystem = 1};
  }
  return layout;
}

/// Runs a coroutine to its end.
template <class T>
T run_to_end(asio::io_context& io, Task<T> task) {
  const auto guard = asio::make_work_guard(io);
  std::optional<T> result;
  auto body = [](Task<T> inner, std::optional<T>& out, asio::io_context& on) -> Task<> {
    out.emplace(co_await std::move(inner));
    on.stop();
  };
  io.restart();
  asio::co_spawn(io, body(std::move(task), result, io), rethrow);
  io.run();
  return *std::move(result);
}

}  // namespace

/// What a running origin holds, in the order of Origin.
struct CrashRig::Process {
  Process(CrashRig& rig, const fs::path& root)
      : layout(layout_at(root, rig.disks_)),
        lengths(small_pieces()),
        catalogue(opened(rig)),
        journal(*catalogue, rig.clock_, rig.durability_ != Durability::never),
        files(rig.disk_, rig.clock_, layout),
        table(rig.disk_, rig.clock_, rig.random_, layout, lengths, {}),
        committer(rig.disk_, layout, journal, roots_of(rig),
                  {.durability = rig.durability_, .group_sync = rig.group_sync_}),
        settlement(rig.disk_, rig.clock_, files, *catalogue, claims, lengths, layout,
                   {.hash_first_bytes_max = 0}),
        pool(2, 100),
        lookup(settlement, claims, open_blobs, rig.disk_, rig.clock_, pool),
        removal(lookup, files, *catalogue, claims, open_blobs, pool, rig.clock_, {}) {}

  static std::unique_ptr<Catalogue> opened(CrashRig& rig) {
    auto catalogue = Catalogue::open({.path = rig.directory_.path() / "db",
                                      .clock = &rig.clock_,
                                      .env = rig.database_disk_->env()});
    if (!catalogue) FAIL(catalogue.error().detail());
    return *std::move(catalogue);
  }
  std::vector<UniqueFd> roots_of(CrashRig& rig) const {
    std::vector<UniqueFd> roots;
    for (std::size_t number = 0; number < layout.filesystem_count(); ++number) {
      auto root = rig.disk_.open_directory(layout.upload_dir_of(number));
      REQUIRE(root);
      roots.push_back(*std::move(root));
    }
    return roots;
  }

  Layout layout;
  PieceLengths lengths;
  std::unique_ptr<Catalogue> catalogue;
  CatalogueJournal journal;
  DigestClaims claims;
  OpenBlobs open_blobs;
  BlobFiles files;
  UploadTable table;
  Committer committer;
  BlobSettlement settlement;
  WorkerPool pool;
  BlobLookup lookup;
  Removal removal;
};

const std::vector<Crash>& every_crash() {
  static const std::vector<Crash> all = {
      {},
      {.power_cut = Unsynced::gone, .database_loses_unsynced = true},
      {.power_cut = Unsynced::gone, .database_loses_unsynced = false},
      {.power_cut = Unsynced::zeroed, .database_loses_unsynced = true},
      {.power_cut = Unsynced::zeroed, .database_loses_unsynced = false},
  };
  return all;
}

CommitNote owed() {
  CommitNote note;
  note.write_back = WriteBackOrder{.name_space = "team/app", .delay = std::chrono::seconds(5)};
  return note;
}

CrashRig::CrashRig(GroupSync group_sync, Durability durability, Disks disks)
    : group_sync_(group_sync), durability_(durability), disks_(disks), disk_([&] {
        auto root = directory_.path() / "data";
        const auto layout = layout_at(root, disks);
        made(layout.cache_dir);
        for (std::size_t number = 0; number < layout.filesystem_count(); ++number) {
          made(layout.upload_dir_of(number));
        }
        for (const auto& [byte, shard] : layout.linked_shards) made(shard.folder);
        return root;
      }()) {
  if (disks == Disks::two) disk_.add_filesystem(directory_.path() / "data" / "volume");
  made(directory_.path() / "db");
  boot();
}

CrashRig::~CrashRig() = default;

void CrashRig::boot() {
  database_disk_ = std::make_unique<FaultyFileSystem>();
  disk_.on_death = [this] { database_disk_->die(); };
  disk_.on_filesystem_synced = [this] { database_disk_->mark_all_synced(); };
  database_disk_->on_write = [this] {
    if (disk_.count_call()) database_disk_->die();
  };
  process_ = std::make_unique<Process>(*this, directory_.path() / "data");
  REQUIRE(process_->table.recover());
}

void CrashRig::die_at(std::uint64_t call) { disk_.die_at(call); }

void CrashRig::come_back(const Crash& crash) {
  // Also when it survived: a power cut may come at any time after the answer.
  database_disk_->die();
  process_ = nullptr;
  if (crash.power_cut) {
    disk_.power_cut(*crash.power_cut);
    if (crash.database_loses_unsynced) database_disk_->power_cut();
  } else {
    disk_.revive();
  }
  boot();
}

void CrashRig::restart_cleanly() {
  REQUIRE(process_->catalogue->close_cleanly());
  process_ = nullptr;
  boot();
}

std::optional<CrashRig::Pending> CrashRig::upload(const std::string& bytes) {
  auto started = process_->table.start(digest_of(bytes), UploadLife::resumable);
  if (!started) return std::nullopt;
  auto upload = *std::move(started);
  // In two chunks, so that there is a death between them.
  const auto half = bytes.size() / 2;
  for (const auto& part : {bytes.substr(0, half), bytes.substr(half)}) {
    upload->begin_chunk(upload->size_bytes());
    if (!upload->append(std::as_bytes(std::span(part)))) return std::nullopt;
  }
  auto metainfo = upload->finish();
  if (!metainfo) return std::nullopt;
  return Pending{.upload = std::move(upload),
                 .metainfo = std::make_unique<MetaInfo>(*std::move(metainfo))};
}

std::set<Digest> CrashRig::commit(std::vector<Pending> group, const CommitNote& note) {
  std::vector<CommitRequest> requests;
  for (const auto& one : group) {
    requests.push_back({.upload = one.upload, .metainfo = one.metainfo.get(), .note = note});
  }
  const auto outcomes = process_->committer.commit_group(requests);
  std::set<Digest> acknowledged;
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (!outcomes[i]) acknowledged.insert(group[i].metainfo->digest());
  }
  for (const auto& one : group) process_->table.discard(*one.upload);
  return acknowledged;
}

std::set<Digest> CrashRig::put(const std::vector<std::string>& blobs, const CommitNote& note) {
  std::vector<Pending> group;
  for (const auto& bytes : blobs) {
    auto pending = upload(bytes);
    if (pending) group.push_back(*std::move(pending));
  }
  return commit(std::move(group), note);
}

bool CrashRig::remove(Digest digest) {
  return run_to_end(io_, process_->removal.remove(digest)).has_value();
}

bool CrashRig::evict(Digest digest) {
  const auto freed = process_->removal.remove_unused(digest);
  return freed && freed->has_value();
}

bool CrashRig::owes_write_back(Digest digest) {
  const auto tasks = process_->catalogue->tasks(digest);
  REQUIRE(tasks);
  return !tasks->empty();
}

bool CrashRig::is_here(Digest digest) {
  const auto claim = process_->claims.try_claim(digest);
  REQUIRE(claim);
  const auto here = process_->lookup.here_under_claim(digest);
  if (!here) FAIL(here.error().detail());
  return *here;
}

std::optional<std::string> CrashRig::read(Digest digest) {
  if (!is_here(digest)) return std::nullopt;
  auto blob = run_to_end(io_, process_->lookup.open(digest));
  if (!blob) FAIL(blob.error().detail());
  std::string bytes(blob->size_bytes, '\0');
  const auto count = disk_.read(blob->file, std::as_writable_bytes(std::span(bytes)), 0);
  REQUIRE(count);
  bytes.resize(*count);
  CHECK(digest_of(bytes) == digest);
  const auto metainfo = process_->catalogue->metainfo(digest);
  if (!metainfo) FAIL(metainfo.error().detail());
  CHECK(metainfo->size_bytes() == bytes.size());
  return bytes;
}

void CrashRig::leave_unsynced(const std::string& bytes, bool sidecar) {
  const auto digest = digest_of(bytes);
  const auto& layout = process_->layout;
  for (const auto& folder :
       {layout.outer_shard(digest), layout.inner_shard(digest), layout.blob_folder(digest)}) {
    REQUIRE(disk_.make_directory(folder));
  }
  const auto write = [&](const fs::path& path, std::string_view text) {
    const auto file = disk_.create(path);
    REQUIRE(file);
    REQUIRE(disk_.write(*file, std::as_bytes(std::span(text.data(), text.size())), 0));
  };
  write(layout.blob(digest), bytes);
  if (!sidecar) return;
  const auto file = disk_.open_for_reading(layout.blob(digest));
  REQUIRE(file);
  const auto metainfo = hash_blob(disk_, *file, process_->lengths);
  REQUIRE(metainfo);
  write(layout.blob_folder(digest) / "_torrentmeta", metainfo->json());
}

void CrashRig::damage(Digest digest) {
  const auto file = disk_.open(process_->layout.blob(digest));
  REQUIRE(file);
  const std::byte wrong{0xff};
  REQUIRE(disk_.write(*file, {&wrong, 1}, 3));
  REQUIRE(disk_.sync_data(*file));
}

bool CrashRig::is_told(Digest digest) {
  const auto claim = process_->claims.try_claim(digest);
  REQUIRE(claim);
  const auto presence = process_->settlement.settle_for_reading(digest);
  if (!presence || *presence == Presence::absent) return false;
  if (*presence == Presence::here) return true;
  // As BlobLookup does before it says so.
  const auto found = process_->settlement.inspect(digest);
  return found && process_->settlement.sync(digest, found->file).has_value();
}

void CrashRig::verify(Digest digest) { (void)process_->settlement.verify(digest, {}); }

bool CrashRig::index(Digest digest) {
  const auto indexed = process_->settlement.index(digest);
  return indexed && (*indexed == Indexed::recorded || *indexed == Indexed::hashed);
}

bool CrashRig::settles_as_here(Digest digest) {
  const auto claim = process_->claims.try_claim(digest);
  REQUIRE(claim);
  const auto here = process_->lookup.here_under_claim(digest);
  return !here || *here;
}

void CrashRig::rot(Digest digest, const std::string& bytes) {
  const auto path = process_->layout.blob(digest);
  write_file(path, bytes);
  for (const auto& root : process_->roots_of(*this)) REQUIRE(disk_.sync_filesystem(root));
  const auto stat = disk_.stat(path);
  REQUIRE(stat);
  REQUIRE(process_->catalogue->renew_fingerprint(digest, fingerprint_of(*stat)));
  REQUIRE(process_->catalogue->sync());
}

bool CrashRig::scrub() {
  ManualStop stop(clock_);
  Scrub one(disk_, clock_, *process_->catalogue, process_->files, process_->settlement,
            process_->claims, process_->lengths, stop, {.period = std::chrono::hours(24)});
  const auto whole = one.pass();
  return whole && *whole;
}

std::vector<std::string> CrashRig::evidence(Digest digest) const {
  std::vector<std::string> bytes;
  const auto folder = process_->layout.blob_folder(digest);
  if (!fs::exists(folder)) return bytes;
  for (const auto& name : names_in(folder)) {
    if (name.starts_with(BlobFiles::kEvidencePrefix)) bytes.push_back(read_file(folder / name));
  }
  return bytes;
}

Usage CrashRig::usage() {
  const auto usage = process_->catalogue->usage();
  REQUIRE(usage);
  return *usage;
}

}  // namespace orlop
