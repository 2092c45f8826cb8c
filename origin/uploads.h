#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/worker_pool.h"
#include "core/content_range.h"
#include "core/digest.h"
#include "core/metainfo.h"
#include "core/upload_id.h"
#include "metadata/catalogue.h"
#include "origin/blob_lookup.h"
#include "origin/blob_metainfo.h"
#include "origin/chunk_writer.h"
#include "store/committer.h"
#include "store/store_space.h"
#include "store/upload_table.h"

namespace orlop {

struct UploadsOptions {
  std::uint64_t upload_bytes_max = std::uint64_t{1} << 40;
  bool sync_while_streaming = true;  ///< Off with `durability: never`.
};

/// A request ended because the blob is here already. Clients count it as success, so it is only
/// said of a blob that is durable.
struct AlreadyHere {};

/// What a request brought about, unless the blob is here already: then it holds nothing.
template <class T>
class UnlessHere {
 public:
  UnlessHere(T value) : value_(std::move(value)) {}
  UnlessHere(AlreadyHere) {}

  bool already_here() const { return !value_.has_value(); }
  /// Pre: !already_here().
  T& operator*() { return ORLOP_CHECK(value_.has_value()), *value_; }
  T* operator->() { return &**this; }

 private:
  std::optional<T> value_;
};

/// A blob that is here now, durably.
struct Committed {
  Digest digest;
  std::uint64_t size_bytes;
  bool was_here;  ///< Before this commit: it added nothing.
};

/// The life of an upload (design, section 4), without HTTP: start, chunks, commit.
///
/// What it is constructed with outlives it. Safe from any reactor.
class Uploads {
 public:
  Uploads(UploadTable& table, BlobLookup& lookup, Catalogue& catalogue, BlobMetaInfo& metainfo,
          Committer& committer, StoreSpace& space, WorkerPool& pool, const Clock& clock,
          UploadsOptions options)
      : table_(table),
        lookup_(lookup),
        catalogue_(catalogue),
        metainfo_(metainfo),
        committer_(committer),
        space_(space),
        pool_(pool),
        clock_(clock),
        options_(options) {}

  /// Starts an upload that the client continues by its id, and holds `size_bytes` of space for it:
  /// 0 if the client does not say. `busy` if there is no space. With `owed`, "already here" is only
  /// said once that write-back is recorded too.
  Task<Result<UnlessHere<UploadId>>> start(Digest digest, std::uint64_t size_bytes,
                                           std::optional<WriteBackOrder> owed);

  /// Begins a chunk of `range`, for which there is space. `interrupt` makes its read from the
  /// client fail (UploadGate). `busy` if there is no space, or another writer; `not_found` if there
  /// is no such upload for this digest, or it is being committed.
  Task<Result<UnlessHere<ChunkWriter>>> begin_chunk(Digest digest, std::string_view upload_id,
                                                    ChunkRange range,
                                                    std::function<void()> interrupt);

  /// Commits what was uploaded. `digest_mismatch` ends the upload; `busy` keeps it, unless a sync
  /// failed.
  Task<Result<Committed>> commit(Digest digest, std::string_view upload_id, CommitNote note);

  /// Up to where the upload reaches; nothing if there is none for this digest.
  std::optional<std::uint64_t> received_bytes(Digest digest, std::string_view upload_id);

  /// Forgets an upload and its bytes. False if there is none, or it is being committed.
  Task<bool> cancel(Digest digest, std::string_view upload_id);

  /// For a blob that comes in one request: an upload without a life of its own, and its one chunk.
  /// `expected_bytes` (0: unknown) sizes the buffers and is the space that is held for it. `busy`
  /// if there is no space.
  struct Single {
    std::shared_ptr<Upload> upload;
    ChunkWriter writer;
  };
  Task<Result<Single>> begin_single(Digest digest, std::uint64_t expected_bytes);
  /// `expected` empty: the bytes name the blob.
  Task<Result<Committed>> commit_single(std::shared_ptr<Upload> upload,
                                        std::optional<Digest> expected, CommitNote note);
  /// The longest blob that is taken.
  std::uint64_t upload_bytes_max() const { return options_.upload_bytes_max; }
  /// The request ended early: removes the upload.
  Task<> abandon_single(std::shared_ptr<Upload> upload);

 private:
  Task<Result<>> record_owed(Digest digest, const std::optional<WriteBackOrder>& owed);
  Task<Result<bool>> is_here(Digest digest);
  Task<Result<Committed>> commit_sealed(std::shared_ptr<Upload> upload,
                                        std::optional<Digest> expected, const CommitNote& note);
  Task<Result<MetaInfo>> finish_bytes(Upload& upload);
  Task<Result<std::shared_ptr<Upload>>> at_home(std::shared_ptr<Upload> upload, Digest digest);
  Task<CommitOutcome> publish(CommitRequest request);
  Task<Result<>> reserve(Upload& upload, std::uint64_t end);
  Task<> discard(Upload& upload);
  Task<> end_committed(Upload& upload, MetaInfo metainfo);

  UploadTable& table_;
  BlobLookup& lookup_;
  Catalogue& catalogue_;
  BlobMetaInfo& metainfo_;
  Committer& committer_;
  StoreSpace& space_;
  WorkerPool& pool_;
  const Clock& clock_;
  const UploadsOptions options_;
};

}  // namespace orlop
