#pragma once

#include <deque>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/digester.h"
#include "store/committer.h"
#include "tests/store/fake_journal.h"
#include "tests/store/store_folder.h"
#include "tests/store/watched_disk.h"

namespace orlop {

/// A committer on a real folder and a fake journal, with uploads to commit.
struct CommitterBench {
  StoreFolder folder;
  CallLog log;
  WatchedDisk disk{log};
  FakeJournal journal{log};
  std::deque<MetaInfo> metainfos;  // A deque: requests point at its elements.
  std::unique_ptr<Committer> committer;

  explicit CommitterBench(CommitterOptions options = {}) {
    std::vector<UniqueFd> roots;
    roots.push_back(*disk.open_directory(folder.layout.cache_dir));
    make_committer(std::move(roots), options);
  }
  ~CommitterBench() { journal.release(); }

  void make_committer(std::vector<UniqueFd> roots, CommitterOptions options) {
    committer =
        std::make_unique<Committer>(disk, folder.layout, journal, std::move(roots), options);
    log.clear();
  }

  /// An upload that holds `text`, finished. What it calls is not in the log.
  CommitRequest request(std::string_view text) {
    auto upload = folder.upload(disk, digest_of(text));
    ORLOP_CHECK(put_chunk(*upload, 0, text).has_value());
    metainfos.push_back(*upload->finish());
    log.clear();
    return {.upload = std::move(upload), .metainfo = &metainfos.back(), .note = {}};
  }
  std::vector<CommitRequest> requests(std::initializer_list<std::string_view> texts) {
    std::vector<CommitRequest> all;
    for (const auto text : texts) all.push_back(request(text));
    return all;
  }

  std::future<CommitOutcome> submit(CommitRequest request) {
    auto promise =
        std::make_shared<std::promise<CommitOutcome>>();  // Shared: a function is copied.
    auto future = promise->get_future();
    committer->submit(std::move(request),
                      [promise](CommitOutcome outcome) { promise->set_value(std::move(outcome)); });
    return future;
  }

  /// The bytes under the blob's name; nothing if there is no such file.
  std::optional<std::string> blob(const CommitRequest& request) const {
    const auto path = folder.layout.blob(request.metainfo->digest());
    if (!std::filesystem::exists(path)) return std::nullopt;
    return read_file(path);
  }
  bool upload_is_there(const CommitRequest& request) const {
    return std::filesystem::exists(request.upload->path());
  }
  std::vector<std::filesystem::path> paths_of(std::string_view call) const {
    std::vector<std::filesystem::path> paths;
    for (auto& one : log.calls()) {
      if (one.name == call) paths.push_back(one.path);
    }
    return paths;
  }
};

inline bool failed_as(const CommitOutcome& outcome, CommitFailure failure) {
  return outcome && outcome->failure == failure;
}

}  // namespace orlop
