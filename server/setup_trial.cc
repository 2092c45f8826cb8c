#include "server/setup_trial.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <span>
#include <utility>

#include "base/asio.h"
#include "base/file_system.h"
#include "store/free_space.h"

namespace orlop {
namespace {

using Kind = TrialResult::Kind;

/// One name a process, so that two trials at once do not meet.
std::string trial_name() { return ".orlop-trial-" + std::to_string(::getpid()); }

std::string mebibytes(std::uint64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// The file goes whatever happens to the trial.
class TrialFile {
 public:
  TrialFile(Disk& disk, std::filesystem::path path) : disk_(disk), path_(std::move(path)) {}
  TrialFile(const TrialFile&) = delete;
  TrialFile& operator=(const TrialFile&) = delete;
  ~TrialFile() { (void)disk_.remove_file(path_); }

  const std::filesystem::path& path() const { return path_; }
  Result<> remove() { return disk_.remove_file(path_); }

 private:
  Disk& disk_;
  const std::filesystem::path path_;
};

}  // namespace

std::vector<TrialResult> FolderTrial::run(const TrialFolder& upload, const TrialFolder& cache,
                                          const TrialFolder& database,
                                          std::optional<std::uint64_t> free_bytes_min) {
  for (const auto& folder : {upload, cache, database}) try_folder(folder);
  const bool usable = std::all_of(results_.begin(), results_.end(),
                                  [](const TrialResult& one) { return one.kind != Kind::failure; });
  if (usable) {
    try_rename(upload, cache);
    try_space(upload, free_bytes_min);
  }
  // The inner ones were made last.
  for (auto folder = made_.rbegin(); folder != made_.rend(); ++folder) {
    (void)disk_.remove_directory(*folder);
  }
  made_.clear();
  return std::exchange(results_, {});
}

void FolderTrial::add(Kind kind, std::string text) {
  results_.push_back({.kind = kind, .text = std::move(text)});
}

void FolderTrial::try_folder(const TrialFolder& folder) {
  const auto began = std::chrono::steady_clock::now();
  const auto name = folder.key + " " + folder.path.string();
  auto made = make_folders(folder.path);
  if (made) made = round_trip(folder.path);
  if (!made) return add(Kind::failure, name + ": " + made.error().detail());
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - began);
  const bool is_new = std::find(made_.begin(), made_.end(), folder.path) != made_.end();
  add(Kind::ok, name + " (" + file_system_kind(folder.path) +
                    (is_new ? ", will be made" : ", is there") +
                    "): a file was written, synced, read, renamed and removed in " +
                    std::to_string(took.count()) + " ms");
}

Result<> FolderTrial::make_folders(const std::filesystem::path& folder) {
  if (folder.empty() || folder == folder.root_path()) return {};
  auto made = disk_.make_directory(folder);
  if (!made && made.error().code() == Errc::not_found) {
    if (auto parents = make_folders(folder.parent_path()); !parents) return parents;
    made = disk_.make_directory(folder);
  }
  if (!made) return std::move(made).error();
  if (*made) made_.push_back(folder);
  return {};
}

Result<> FolderTrial::round_trip(const std::filesystem::path& folder) {
  constexpr std::size_t kBytes = 4096;
  std::array<std::byte, kBytes> written;
  written.fill(std::byte{0x5a});
  std::array<std::byte, kBytes> read = {};

  const TrialFile first(disk_, folder / trial_name());
  TrialFile second(disk_, folder / (trial_name() + "-renamed"));
  const auto file = disk_.create(first.path());
  if (!file) return file.error();
  if (auto done = disk_.write(*file, written, 0); !done) return done;
  if (auto done = disk_.sync_data(*file); !done) return done;
  const auto count = disk_.read(*file, read, 0);
  if (!count) return count.error();
  if (read != written) return Error(Errc::corrupt, "what was read is not what was written");
  if (auto done = disk_.rename(first.path(), second.path()); !done) return done;
  if (auto done = disk_.sync_directory(folder); !done) return done;
  return second.remove();
}

void FolderTrial::try_rename(const TrialFolder& upload, const TrialFolder& cache) {
  const TrialFile from(disk_, upload.path / trial_name());
  const TrialFile to(disk_, cache.path / trial_name());
  const auto file = disk_.create(from.path());
  auto renamed = file ? disk_.rename(from.path(), to.path()) : Result<>(Error(file.error()));
  const auto names = upload.key + " to " + cache.key;
  if (renamed) return add(Kind::ok, names + ": a file can be renamed from one to the other");
  add(Kind::failure, names + ": " + renamed.error().detail() +
                         "; both must be on one file system, because a commit is a rename");
}

void FolderTrial::try_space(const TrialFolder& folder,
                            std::optional<std::uint64_t> free_bytes_min) {
  const auto use = space_use(folder.path);
  if (!use) return add(Kind::failure, folder.key + ": " + use.error().detail());
  const auto floor = space_floor(*use, free_bytes_min);
  const auto text = folder.key + ": " + mebibytes(use->free_bytes) + " of " +
                    mebibytes(use->total_bytes) + " are free, and uploads are refused below " +
                    mebibytes(floor) + " (store.free_bytes_min)";
  const bool silent = use->total_bytes == 0;  // A file system that does not say: it is believed.
  add(silent || use->free_bytes > floor ? Kind::ok : Kind::failure, text);
}

TrialResult try_address(const std::string& address, std::uint16_t port) {
  asio::io_context io(1);
  Acceptor acceptor(io);
  boost::system::error_code error;
  const auto where = address + ":" + std::to_string(port);
  const asio::ip::tcp::endpoint endpoint(asio::ip::make_address(address, error), port);
  if (!error) acceptor.open(endpoint.protocol(), error);
  if (!error) acceptor.set_option(Acceptor::reuse_address(true), error);
  if (!error) acceptor.bind(endpoint, error);
  if (!error) acceptor.listen(1, error);
  if (!error) return {.kind = Kind::ok, .text = where + ": can be listened on"};
  if (error == asio::error::address_in_use) {
    return {.kind = Kind::warning, .text = where + ": somebody listens there now"};
  }
  return {.kind = Kind::failure, .text = where + ": " + error.message()};
}

}  // namespace orlop
