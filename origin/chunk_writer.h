#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/worker_pool.h"
#include "store/upload.h"
#include "store/upload_table.h"

namespace orlop {

/// Writes one chunk into an upload, as its bytes come from the network.
///
/// Receiving overlaps with hashing and writing: while one buffer is being appended on the pool, the
/// next one fills. Every 32 MiB an fdatasync runs beside it, so that the commit has little left to
/// sync (design, section 4.4). Made by Uploads::begin_chunk, which lets one in at a time; ended by
/// exactly one of `finish` and `undo`. Lives on one reactor.
class ChunkWriter {
 public:
  static constexpr std::size_t kBufferBytesMax = 256 * 1024;
  static constexpr std::uint64_t kSyncEveryBytes = 32 << 20;
  static constexpr std::uint64_t kUnsyncedBytesMax = 2 * kSyncEveryBytes;

  /// `expected_bytes` sizes the buffers; more may come. Inside the upload's gate.
  ChunkWriter(std::shared_ptr<Upload> upload, UploadTable& table, WorkerPool& pool,
              bool sync_while_streaming, std::uint64_t expected_bytes);
  ChunkWriter(ChunkWriter&& other) noexcept = default;
  ChunkWriter& operator=(ChunkWriter&&) = delete;
  ~ChunkWriter();

  /// Where the next bytes go. Never empty.
  std::span<std::byte> space();
  /// `count` bytes of `space()` were filled. After an error the upload is gone.
  Task<Result<>> filled(std::size_t count);

  /// Keeps what arrived: the chunk was complete, or its connection was cut.
  Task<Result<>> finish();
  /// The chunk was not what it claimed to be: the upload is as it was before.
  Task<Result<>> undo();

  std::uint64_t received_bytes() const { return received_bytes_; }

 private:
  /// Bytes on their way to the file.
  struct Append {
    std::shared_ptr<Upload> upload;
    std::vector<std::byte> buffer;
    std::size_t used = 0;
    Event done;
    Result<> result;  ///< Readable once `done` is set.
  };

  Task<Result<>> append_filled();
  Task<Result<>> wait_for_append();
  Task<Result<>> sync_behind();
  Task<Result<>> fail(Error error);
  void leave();

  std::shared_ptr<Upload> upload_;  // Null once ended. Shared with the table and the pool.
  UploadTable* table_;
  WorkerPool* pool_;
  bool sync_while_streaming_;
  std::size_t buffer_bytes_;
  std::uint64_t received_bytes_ = 0;
  std::shared_ptr<Append> filling_;    // Shared with nobody until it is appended,
  std::shared_ptr<Append> appending_;  // then with the pool, which may outlive this coroutine.
};

}  // namespace orlop
