#include "origin/chunk_writer.h"

#include <algorithm>

#include "base/log.h"

namespace orlop {

ChunkWriter::ChunkWriter(std::shared_ptr<Upload> upload, UploadTable& table, WorkerPool& pool,
                         bool sync_while_streaming, std::uint64_t expected_bytes)
    : upload_(std::move(upload)),
      table_(&table),
      pool_(&pool),
      sync_while_streaming_(sync_while_streaming),
      buffer_bytes_(static_cast<std::size_t>(
          std::clamp<std::uint64_t>(expected_bytes, 1024, kBufferBytesMax))) {}

ChunkWriter::~ChunkWriter() {
  if (upload_ != nullptr) leave();
}

std::span<std::byte> ChunkWriter::space() {
  if (filling_ == nullptr) {
    filling_ = std::make_shared<Append>();
    filling_->upload = upload_;
    filling_->buffer.resize(buffer_bytes_);
  }
  return std::span(filling_->buffer).subspan(filling_->used);
}

Task<Result<>> ChunkWriter::filled(std::size_t count) {
  upload_->gate.progress();
  received_bytes_ += count;
  filling_->used += count;
  ORLOP_CHECK(filling_->used <= filling_->buffer.size());
  if (filling_->used < filling_->buffer.size()) co_return Result<>();
  co_return co_await append_filled();
}

/// Hands the filled buffer to the pool once the one before is written, and fills that one next.
Task<Result<>> ChunkWriter::append_filled() {
  if (auto written = co_await wait_for_append(); !written) co_return written;
  if (auto synced = co_await sync_behind(); !synced) co_return synced;
  appending_ = std::move(filling_);
  pool_->post([append = appending_] {
    append->result =
        append->upload->append(std::span<const std::byte>(append->buffer).first(append->used));
    append->done.set();
  });
  co_return Result<>();
}

Task<Result<>> ChunkWriter::wait_for_append() {
  if (appending_ == nullptr) co_return Result<>();
  upload_->gate.pause();
  co_await appending_->done.wait();
  const auto done = std::move(appending_);
  appending_ = nullptr;
  upload_->gate.progress();
  if (!done->result) co_return co_await fail(done->result.error());
  co_return Result<>();
}

/// Keeps one fdatasync running behind the writer, and the writer at most two steps ahead of it.
Task<Result<>> ChunkWriter::sync_behind() {
  if (!sync_while_streaming_) co_return Result<>();
  auto& sync = upload_->streaming_sync;
  if (sync != nullptr && upload_->unsynced_bytes() >= kUnsyncedBytesMax) {
    upload_->gate.pause();
    co_await sync->done.wait();
    upload_->gate.progress();
  }
  if (sync != nullptr && sync->done.is_set() && !sync->result) {
    auto error = sync->result.error();
    co_return co_await fail(std::move(error));
  }
  const bool idle = sync == nullptr || sync->done.is_set();
  if (!idle || upload_->unsynced_bytes() < kSyncEveryBytes) co_return Result<>();
  sync = std::make_shared<Upload::StreamingSync>();
  pool_->post([running = sync, upload = upload_] {
    running->result = upload->sync();
    running->done.set();
  });
  co_return Result<>();
}

Task<Result<>> ChunkWriter::finish() {
  if (filling_ != nullptr && filling_->used > 0) {
    if (auto written = co_await append_filled(); !written) co_return written;
  }
  if (auto written = co_await wait_for_append(); !written) co_return written;
  leave();
  co_return Result<>();
}

Task<Result<>> ChunkWriter::undo() {
  filling_ = nullptr;
  if (auto written = co_await wait_for_append(); !written) co_return written;
  auto undone = co_await pool_->run_admitted([&] { return upload_->undo_chunk(); });
  if (!undone) co_return co_await fail(undone.error());
  leave();
  co_return Result<>();
}

/// A failed write or sync is the one error that ends an upload. Its bytes are freed before the
/// client hears of it, whoever still has the file open: others may be waiting for the space.
Task<Result<>> ChunkWriter::fail(Error error) {
  log_warn("upload_failed", {{"upload", upload_->id().text()},
                             {"digest", upload_->digest().to_string()},
                             {"reason", error.detail()}});
  (void)co_await pool_->run_admitted([&]() -> Result<> {
    (void)upload_->free_bytes();  // Unlinking is enough once nobody has it open any more.
    table_->discard(*upload_);
    return {};
  });
  leave();
  co_return error;
}

void ChunkWriter::leave() {
  upload_->gate.leave();
  upload_ = nullptr;
}

}  // namespace orlop
