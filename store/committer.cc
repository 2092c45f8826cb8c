#include "store/committer.h"

#include <algorithm>
#include <latch>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/log.h"

namespace orlop {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kSyncThreads = 8;

std::size_t shard_index(Digest digest) {
  return static_cast<std::size_t>(digest.bytes()[0]) << 8 | digest.bytes()[1];
}

Digest digest_of_request(const CommitRequest& request) { return request.metainfo->digest(); }

}  // namespace

Committer::Committer(Disk& disk, const Layout& layout, CommitJournal& journal,
                     std::vector<UniqueFd> roots, CommitterOptions options)
    : disk_(disk),
      layout_(layout),
      journal_(journal),
      roots_(std::move(roots)),
      options_(options),
      sync_pool_(options.group_sync == GroupSync::fsync ? kSyncThreads : roots_.size()),
      thread_([this] { run(); }) {}

Committer::~Committer() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Committer::submit(CommitRequest request, std::function<void(CommitOutcome)> done) {
  {
    const std::lock_guard lock(mutex_);
    if (queue_.size() < options_.queue_max) {
      queue_.push_back(
          {.request = std::move(request), .done = std::move(done), .since = SteadyClock::now()});
      wake_.notify_one();
      return;
    }
    ++refused_;
  }
  done(CommitError{CommitFailure::upload_kept, Error(Errc::busy, "the commit queue is full")});
}

std::size_t Committer::queued() const {
  const std::lock_guard lock(mutex_);
  return queue_.size();
}

CommitterStats Committer::stats() const {
  CommitterStats stats;
  const auto now = SteadyClock::now();
  const std::chrono::nanoseconds began(group_began_ns_.load(std::memory_order_relaxed));
  if (began.count() > 0) stats.group_running = now.time_since_epoch() - began;
  stats.waiting_max = options_.queue_max;
  stats.failed = failed_.value();
  stats.group_size = group_size_.read();
  stats.group_took = group_took_.read();
  stats.synced = synced_.read();
  stats.waited = waited_.read();
  const std::lock_guard lock(mutex_);
  stats.waiting = queue_.size();
  if (!queue_.empty()) stats.oldest_waits = now - queue_.front().since;
  stats.refused = refused_;
  return stats;
}

void Committer::run() {
  for (;;) {
    auto waiting = take_group();
    if (waiting.empty()) return;
    const auto began = SteadyClock::now();
    group_began_ns_.store(nanoseconds(began.time_since_epoch()).count(), std::memory_order_relaxed);
    std::vector<CommitRequest> group;
    group.reserve(waiting.size());
    for (auto& one : waiting) {
      waited_.add(began - one.since);
      group.push_back(std::move(one.request));
    }
    auto outcomes = commit_group(group);
    // Before the answers: whoever has one finds it counted.
    group_size_.add(group.size());
    group_took_.add(SteadyClock::now() - began);
    for (const auto& outcome : outcomes) failed_.add(outcome ? 1 : 0);
    group_began_ns_.store(0, std::memory_order_relaxed);
    for (std::size_t i = 0; i < waiting.size(); ++i) waiting[i].done(std::move(outcomes[i]));
  }
}

/// Empty when it is time to stop and nobody waits.
std::vector<Committer::Waiting> Committer::take_group() {
  const auto group_max = options_.durability == Durability::always ? 1 : options_.group_max;
  std::unique_lock lock(mutex_);
  wake_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
  std::vector<Waiting> group;
  while (!queue_.empty() && group.size() < group_max) {
    group.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  return group;
}

std::vector<CommitOutcome> Committer::commit_group(std::span<const CommitRequest> group) {
  std::vector<CommitOutcome> outcomes(group.size());
  nanoseconds files_synced{0};
  if (syncs_each_file()) {
    const auto began = SteadyClock::now();
    // Before the renames: a name must not point at bytes that a power cut can take.
    std::vector<std::function<Result<>()>> syncs;
    for (const auto& request : group) syncs.emplace_back([&] { return request.upload->sync(); });
    const auto results = side_by_side(syncs);
    files_synced = SteadyClock::now() - began;
    for (std::size_t i = 0; i < group.size(); ++i) {
      if (results[i]) continue;
      outcomes[i] = CommitError{CommitFailure::upload_lost, results[i].error()};
    }
  }

  std::vector<CommitRequest> published;
  std::vector<CommitRecord> records;
  std::vector<std::size_t> places;  // Of each published request in `group`.
  for (std::size_t i = 0; i < group.size(); ++i) {
    if (outcomes[i]) continue;
    if (auto renamed = publish(group[i]); !renamed) {
      outcomes[i] = CommitError{CommitFailure::upload_kept, std::move(renamed).error()};
      continue;
    }
    auto stat = disk_.stat(group[i].upload->file());
    if (!stat) {
      take_back(group[i]);
      outcomes[i] = CommitError{CommitFailure::upload_kept, std::move(stat).error()};
      continue;
    }
    published.push_back(group[i]);
    records.push_back({.metainfo = group[i].metainfo, .file = *stat, .note = &group[i].note});
    places.push_back(i);
  }
  if (published.empty()) return outcomes;

  if (auto recorded = journal_.record(records); !recorded) {
    for (const auto& request : published) take_back(request);
    for (const auto place : places) {
      outcomes[place] = CommitError{CommitFailure::upload_kept, recorded.error()};
    }
    return outcomes;
  }
  const auto sync_began = SteadyClock::now();
  const auto synced = sync_group(published);
  if (options_.durability != Durability::never) {
    synced_.add(files_synced + (SteadyClock::now() - sync_began));
  }
  std::vector<CommitRecord> doubtful;
  for (std::size_t i = 0; i < published.size(); ++i) {
    if (!synced[i]) doubtful.push_back(records[i]);
  }
  if (doubtful.empty()) return outcomes;
  // The kernel may have dropped the pages and will call them clean from now on ("fsyncgate"), so
  // these files must not be believed, nor committed again. Without a file their records are
  // dropped; where even the removal fails, the records must not vouch for them.
  journal_.distrust(doubtful);
  std::string reason;
  for (std::size_t i = 0; i < published.size(); ++i) {
    if (synced[i]) continue;
    reason = synced[i].error().detail();
    (void)disk_.remove_file(layout_.blob(digest_of_request(published[i])));
    outcomes[places[i]] = CommitError{CommitFailure::upload_lost, Error(Errc::busy, reason)};
  }
  log_error("commit_sync_failed", {{"blobs", doubtful.size()}, {"reason", reason}});
  return outcomes;
}

Result<> Committer::publish(const CommitRequest& request) {
  const auto digest = digest_of_request(request);
  const auto path = layout_.blob(digest);
  auto renamed = disk_.rename(request.upload->path(), path);
  if (renamed || renamed.error().code() != Errc::not_found) return renamed;
  // The folder is there only for blobs that were here before, so try first and make it then.
  if (auto made = make_folder(digest); !made) return made;
  return disk_.rename(request.upload->path(), path);
}

Result<> Committer::make_folder(Digest digest) {
  for (const auto& folder :
       {layout_.outer_shard(digest), layout_.inner_shard(digest), layout_.blob_folder(digest)}) {
    if (const auto made = disk_.make_directory(folder); !made) return made.error();
  }
  return {};
}

/// Gives an upload its old name again. If even that fails, the file under the blob's name has no
/// record: the next look-up hashes it before it believes it.
void Committer::take_back(const CommitRequest& request) {
  const auto digest = digest_of_request(request);
  if (auto renamed = disk_.rename(layout_.blob(digest), request.upload->path()); !renamed) {
    log_warn("upload_not_taken_back",
             {{"digest", digest.to_string()}, {"reason", renamed.error().detail()}});
  }
}

/// How the sync of each request's file system ended, or of the journal.
std::vector<Result<>> Committer::sync_group(std::span<const CommitRequest> group) {
  std::vector<Result<>> results(group.size());
  if (options_.durability == Durability::never) return results;
  const bool by_syncfs = options_.group_sync == GroupSync::syncfs;
  const auto synced = by_syncfs ? sync_filesystems(group) : sync_directories(group);

  std::set<std::size_t> filesystems;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const auto filesystem = layout_.filesystem(digest_of_request(group[i]));
    filesystems.insert(filesystem);
    results[i] = synced[filesystem];
  }
  const auto failed = [](const Result<>& result) { return !result; };
  if (std::all_of(results.begin(), results.end(), failed)) return results;
  const auto& home = options_.journal_filesystem;
  const bool covered = by_syncfs && home && filesystems.contains(*home);
  const auto journal = covered ? synced[*home] : journal_.sync();
  if (!journal) std::fill(results.begin(), results.end(), journal);
  return results;
}

/// syncfs of each file system that got blobs; success for the others.
std::vector<Result<>> Committer::sync_filesystems(std::span<const CommitRequest> group) {
  std::set<std::size_t> filesystems;
  for (const auto& request : group) {
    filesystems.insert(layout_.filesystem(digest_of_request(request)));
  }
  std::vector<Result<>> results(roots_.size());
  std::vector<std::function<Result<>()>> syncs;
  syncs.reserve(filesystems.size());
  for (const auto filesystem : filesystems) {
    syncs.emplace_back([this, filesystem] { return disk_.sync_filesystem(roots_[filesystem]); });
  }
  const auto synced = side_by_side(syncs);
  std::size_t next = 0;
  for (const auto filesystem : filesystems) results[filesystem] = synced[next++];
  return results;
}

/// Syncs each directory that got a new name: the blob's folder, its inner shard, and the shards
/// above if this process has not yet synced the name of this inner shard.
std::vector<Result<>> Committer::sync_directories(std::span<const CommitRequest> group) {
  std::map<std::filesystem::path, std::size_t> directories;  // With the file system of each.
  for (const auto& request : group) {
    const auto digest = digest_of_request(request);
    const auto filesystem = layout_.filesystem(digest);
    directories.emplace(layout_.blob_folder(digest), filesystem);
    directories.emplace(layout_.inner_shard(digest), filesystem);
    if (shard_synced_.test(shard_index(digest))) continue;
    directories.emplace(layout_.outer_shard(digest), filesystem);
    directories.emplace(layout_.outer_shard(digest).parent_path(), filesystem);
  }
  std::vector<std::function<Result<>()>> syncs;
  syncs.reserve(directories.size());
  for (const auto& [directory, filesystem] : directories) {
    syncs.emplace_back([this, &at = directory] { return disk_.sync_directory(at); });
  }
  const auto synced = side_by_side(syncs);
  std::vector<Result<>> results(roots_.size());
  std::size_t next = 0;
  for (const auto& [directory, filesystem] : directories) {
    const auto& one = synced[next++];
    if (!one) results[filesystem] = one;
  }
  for (const auto& request : group) {
    const auto digest = digest_of_request(request);
    if (results[layout_.filesystem(digest)]) shard_synced_.set(shard_index(digest));
  }
  return results;
}

std::vector<Result<>> Committer::side_by_side(std::span<const std::function<Result<>()>> calls) {
  if (calls.size() == 1) return {calls.front()()};
  std::vector<Result<>> results(calls.size());
  std::latch left(static_cast<std::ptrdiff_t>(calls.size()));
  for (std::size_t i = 0; i < calls.size(); ++i) {
    asio::post(sync_pool_, [&, i] {
      results[i] = calls[i]();
      left.count_down();
    });
  }
  left.wait();
  return results;
}

}  // namespace orlop
