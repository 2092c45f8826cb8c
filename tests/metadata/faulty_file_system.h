#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace rocksdb {
class Env;
}

namespace orlop {

/// The disk under RocksDB, with faults: writes fail while the test wants it, a process dies at a
/// chosen call, the power goes. What is not a fault goes to the real files. The blobs' own disk has
/// its twin in tests/store/faulty_disk.h.
///
/// It models bytes, not names: a new file, a rename and a removal are durable at once. RocksDB
/// syncs its folder before it relies on a name.
///
/// Safe to use from any thread, but for `on_write`, which is set before the database is opened. It
/// outlives every database that was opened with its `env()`.
class FaultyFileSystem {
 public:
  FaultyFileSystem();
  FaultyFileSystem(const FaultyFileSystem&) = delete;
  FaultyFileSystem& operator=(const FaultyFileSystem&) = delete;
  ~FaultyFileSystem();

  /// For CatalogueOptions::env.
  rocksdb::Env* env() { return env_.get(); }

  /// While on, every append and every sync fails as if with this errno: ENOSPC, or any other.
  /// `only_in`: only of files with this in their name, such as ".log".
  void fail_writes(bool on, int error_number = ENOSPC, std::string only_in = {});

  /// From now on every call that changes a file or a name fails, as for a process that is killed
  /// here. Then destroy the database, let `power_cut()` or not, and open it anew with another one.
  void die();
  bool dead() const;

  /// Cuts every file to the length that was synced. No database may be open.
  void power_cut();
  /// What syncfs(2) does: everything written so far survives a power cut.
  void mark_all_synced();

  /// Called before each append and sync, with no lock held: it may call what is above.
  std::function<void()> on_write;

 private:
  class Wrapper;
  class File;

  struct Length {
    std::uint64_t written = 0;
    std::uint64_t synced = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, Length> files_;  // Those that were opened for writing here, by path.
  int error_number_ = 0;
  std::string only_in_;
  bool dead_ = false;
  std::unique_ptr<rocksdb::Env> env_;
};

}  // namespace orlop
