#pragma once

#include <rocksdb/db.h>
#include <rocksdb/iterator.h>
#include <rocksdb/write_batch.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace orlop {

/// The column families: what is kept apart, and what it is called on disk.
enum class Family : std::uint8_t { general, blobs, metainfo, tasks, access, accessed };
inline constexpr std::array<const char*, 6> kFamilyNames = {"default", "blobs",  "metainfo",
                                                            "tasks",   "access", "accessed"};

/// Bytes of RocksDB's as ours and back; both are views.
inline std::string_view to_view(const rocksdb::Slice& slice) {
  return {slice.data(), slice.size()};
}
inline rocksdb::Slice to_slice(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

/// `busy`: what every call that writes answers while the database is write-dead.
Error cannot_write(std::string_view reason);

/// Whether a database may be changed. `read_only` takes no lock and writes not one byte: what only
/// the log has is read from there and kept in memory.
enum class OpenMode : std::uint8_t { read_write, read_only };

/// RocksDB, open, from opening to closing once. Only metadata/*.cc sees it.
///
/// The first write that fails, of a caller or of RocksDB's own threads, makes it *write-dead*: it
/// stays readable, and writing is refused, because RocksDB cannot be trusted to write again before
/// it has been opened anew. Safe to use from any thread; every user is gone before it is destroyed.
class OpenDatabase {
 public:
  /// Called once, at most, on whichever thread failed: with why the database is write-dead.
  using OnDeath = std::function<void(const std::string& reason)>;

  static Result<std::unique_ptr<OpenDatabase>> open(const rocksdb::Options& options,
                                                    const std::filesystem::path& path,
                                                    OpenMode mode, OnDeath on_death);
  OpenDatabase(const OpenDatabase&) = delete;
  OpenDatabase& operator=(const OpenDatabase&) = delete;
  /// Closes. What is not synced stays with the kernel.
  ~OpenDatabase();

  /// `not_found`, or why it cannot be read. `value` holds on to RocksDB's memory: let it go before
  /// the database.
  Result<> get(Family family, std::string_view key, rocksdb::PinnableSlice& value) const;
  /// Whether there is such a key.
  Result<bool> has(Family family, std::string_view key) const;
  /// Over one family, for a scan: does not fill the cache. Let it go before the database.
  std::unique_ptr<rocksdb::Iterator> scan(Family family) const;

  rocksdb::ColumnFamilyHandle* handle(Family family) const {
    return handles_[static_cast<std::size_t>(family)];
  }

  /// `busy` if the batch could not be written; then, and from then on, the database is write-dead.
  Result<> write(rocksdb::WriteBatch& batch, bool synced);
  /// Makes all writes so far durable. No one who writes waits for it. Fails as `write` does.
  Result<> sync();

  bool write_dead() const { return write_dead_.load(std::memory_order_acquire); }
  /// Pre: write_dead().
  const std::string& reason() const { return reason_; }
  /// Says that it is write-dead, and why.
  void die(const std::string& reason);

 private:
  explicit OpenDatabase(OnDeath on_death) : on_death_(std::move(on_death)) {}

  Error refused() const;  // Pre: write_dead().

  OnDeath on_death_;
  std::once_flag death_;
  std::string reason_;  // Written once, before write_dead_, and only read after it.
  std::atomic<bool> write_dead_ = false;
  std::unique_ptr<rocksdb::DB> db_;
  std::array<rocksdb::ColumnFamilyHandle*, kFamilyNames.size()> handles_{};
};

}  // namespace orlop
