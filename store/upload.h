#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>

#include "base/disk.h"
#include "base/event.h"
#include "core/digest.h"
#include "core/digester.h"
#include "core/metainfo.h"
#include "core/piece.h"
#include "core/piece_sums.h"
#include "core/upload_id.h"
#include "store/free_space.h"
#include "store/upload_gate.h"

namespace orlop {

/// One upload: a file that grows by chunks, and the SHA-256 and piece sums of what arrived in
/// order.
///
/// A chunk is begun at an offset, appended to, and kept or undone. In order means: it begins where
/// the last one ended, or it begins anew where the last one began (a client that lost our answer
/// sends its chunk again). Chunks at any other offset are legal in Kraken's dialect; they cost one
/// read of the whole file when the upload is committed.
///
/// Calls block on the disk. One thread at a time, which `gate` sees to; `sync` may run beside the
/// writer. `disk` and `piece_lengths` outlive the upload.
class Upload {
 public:
  /// A new upload, or with `recovered` one whose file a former process left behind. Its bytes have
  /// not been seen by this process, so it will be read when it is committed.
  Upload(Disk& disk, const PieceLengths& piece_lengths, UploadId id, Digest digest,
         std::filesystem::path path, UniqueFd file, std::uint64_t recovered_bytes = 0);

  const UploadId& id() const { return id_; }
  /// What the client says it is sending.
  Digest digest() const { return digest_; }
  const std::filesystem::path& path() const { return path_; }
  const UniqueFd& file() const { return file_; }
  /// The end of the furthest chunk. From any thread; while a chunk is written, a moment old.
  std::uint64_t size_bytes() const { return size_bytes_.load(std::memory_order_relaxed); }

  /// Begins a chunk. The state before it is the checkpoint to which `undo_chunk` returns.
  void begin_chunk(std::uint64_t offset);
  /// Hashes and writes what came next. After an error, also `busy` because there is no space for
  /// it, the file is in doubt: discard the upload.
  Result<> append(std::span<const std::byte> bytes);
  /// Gives the bytes on the disk back at once. The upload is of no more use.
  Result<> free_bytes() { return disk_.truncate(file_, 0); }
  /// The chunk was not what it claimed to be: forgets it.
  Result<> undo_chunk();

  /// Bytes appended since the last `sync` began.
  std::uint64_t unsynced_bytes() const { return unsynced_bytes_.load(std::memory_order_relaxed); }
  /// fdatasync. After an error the file is in doubt (the kernel may have dropped the pages and
  /// will not report it again), so this and `finish` fail from then on: discard the upload.
  Result<> sync();

  /// A sync failed: nobody can say what is on the disk.
  bool in_doubt() const { return in_doubt_; }

  /// What the bytes are, hashing the file only if they did not arrive in order. May be called
  /// again.
  Result<MetaInfo> finish();

  UploadGate gate;

  /// What is promised to this upload on its file system. `append` takes more if it has to.
  Reservation space;
  /// How many bytes the file will still take if the client sends all that it has announced, the
  /// size it named at the start and the end of each chunk, and goes on to `end`. The writer's.
  std::uint64_t bytes_to_come(std::uint64_t end) const;
  /// The client will send as much as up to `end`, and there is space for it. The writer's.
  void announce(std::uint64_t end);

  /// The streaming sync that is under way, or the last one; null before the first. Only whoever is
  /// inside the gate, or has sealed it, looks at it. Shared with the thread that syncs.
  struct StreamingSync {
    Event done;
    Result<> result;  ///< Readable once `done` is set.
  };
  std::shared_ptr<StreamingSync> streaming_sync;

 private:
  struct Checkpoint {
    std::uint64_t offset;
    Digester digester;
    PieceSummer::Mark sums;
  };

  void rewind_hashes();

  Disk& disk_;
  const PieceLengths& piece_lengths_;
  const UploadId id_;
  const Digest digest_;
  const std::filesystem::path path_;
  UniqueFd file_;

  std::atomic<std::uint64_t> size_bytes_;
  std::uint64_t announced_bytes_ = 0;  ///< The furthest end that the client spoke of.
  std::uint64_t hole_bytes_ = 0;       ///< Below size_bytes_, and not written yet.
  std::uint64_t position_ = 0;         ///< Where the present chunk goes on.
  std::uint64_t hashed_bytes_ = 0;
  bool in_order_;  ///< The digester has seen the first hashed_bytes_ of the file, as they are now.
  Digester digester_;
  PieceSummer sums_;
  Checkpoint checkpoint_;

  // What undo_chunk needs beyond the checkpoint.
  std::uint64_t size_before_chunk_ = 0;
  std::uint64_t holes_before_chunk_ = 0;
  std::uint64_t chunk_offset_ = 0;
  bool in_order_before_chunk_ = true;

  std::uint64_t written_back_to_ = 0;
  std::atomic<std::uint64_t> unsynced_bytes_ = 0;
  std::atomic<bool> in_doubt_ = false;
};

}  // namespace orlop
