#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/random.h"
#include "base/tally.h"
#include "core/piece.h"
#include "store/layout.h"
#include "store/upload.h"

namespace orlop {

/// Whether an upload can be found again by its id.
enum class UploadLife : std::uint8_t {
  resumable,  ///< The client was given the id: the upload survives a restart.
  single,     ///< One request from beginning to end: of no use to anybody after it.
};

struct UploadTableOptions {
  std::size_t uploads_max = 10'000;
  std::chrono::nanoseconds idle_max = std::chrono::hours(6);  ///< castore.upload_cleanup.tti
  /// Space that a client announced and does not use is free for others after this. Its upload
  /// stays, and asks anew with its next chunk.
  std::chrono::nanoseconds promise_max = std::chrono::minutes(5);
  std::string ring_label;  ///< Of this node; upload ids carry a hash of it.
};

/// The uploads in progress, by id.
///
/// Start makes two small files and no sync: an upload that a power cut takes is begun again by its
/// client. Calls block on the disk, except `find` and `count`. Safe from any thread. What it is
/// constructed with outlives it.
class UploadTable {
 public:
  UploadTable(Disk& disk, const Clock& clock, Random& random, const Layout& layout,
              const PieceLengths& piece_lengths, UploadTableOptions options);

  /// Takes up the uploads that a former process left in the upload folders, removes the leftovers
  /// of ours that nobody can continue, and leaves alone (and says once) what is not ours.
  Result<> recover();

  /// `busy` if there are too many already. `space`: what is promised to it, on the file system of
  /// the blob.
  Result<std::shared_ptr<Upload>> start(Digest digest, UploadLife life, Reservation space = {});

  /// Whether a commit under this digest can be a rename. Not so if the upload was started without
  /// knowing its digest, or if links of shards have changed since.
  bool lies_where_blob_will(const Upload& upload, Digest digest) const;
  /// For one that does not: a copy that does, read, hashed and written once more, for one request.
  /// The caller has sealed `from` and discards both. As `start`; `corrupt` if other bytes were read
  /// than `digest` names.
  Result<std::shared_ptr<Upload>> copy(const Upload& from, Digest digest, Reservation space);

  /// The upload, if it was started for this digest; null otherwise: an id is a key to one blob.
  /// Counts as activity.
  std::shared_ptr<Upload> find(const UploadId& id, Digest digest);

  /// Forgets the upload, gives back the space that was promised to it, and removes what is left of
  /// it on the disk. Its file, if it still has this name; after a commit it has another.
  void discard(Upload& upload);

  /// Discards uploads without activity for `idle_max`; how many. Takes the promised space from
  /// those without activity for `promise_max`. Uploads that somebody is using at this moment are
  /// not idle.
  std::size_t discard_idle();

  std::size_t count() const;
  /// How many were refused since the start, because there were too many.
  std::uint64_t refused() const { return refused_.value(); }

 private:
  struct Entry {
    std::shared_ptr<Upload> upload;  // Shared with the requests that are working on it.
    Clock::Steady active_at;
  };

  Result<> recover_folder(const std::filesystem::path& upload_dir);
  Result<> recover_one(const UploadId& id, const std::filesystem::path& path);
  Result<> write_session(const std::filesystem::path& upload, Digest digest);
  Result<Digest> read_session(const std::filesystem::path& upload);

  Disk& disk_;
  const Clock& clock_;
  Random& random_;
  const Layout& layout_;
  const PieceLengths& piece_lengths_;
  const UploadTableOptions options_;

  SharedTally refused_;
  mutable std::mutex mutex_;
  std::unordered_map<UploadId, Entry> uploads_;
};

}  // namespace orlop
