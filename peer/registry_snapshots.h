#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <mutex>
#include <string>

#include "base/stop_signal.h"
#include "peer/registry.h"
#include "peer/snapshot_encoder.h"
#include "peer/snapshot_file.h"

namespace orlop {

struct RegistrySnapshotsOptions {
  std::filesystem::path path;  ///< Its folder has to be there.
  std::chrono::nanoseconds interval{std::chrono::seconds(5)};
  std::size_t bytes_max = std::size_t{2} << 30;  ///< A longer file is not read.
};

/// Saves a registry's snapshots and reads them at the start. Safe from any thread; blocks.
class RegistrySnapshots {
 public:
  RegistrySnapshots(PeerRegistry& registry, Disk& disk, const Clock& clock,
                    RegistrySnapshotsOptions options);

  /// Reads the current snapshot, or the previous one if that is refused. A refused one is set
  /// aside. Never fails: a registry without its past fills again within a few announces. The text
  /// says what was done, a reason a line.
  std::string load();

  /// Writes a snapshot if anything changed since the last that was written; says whether.
  Result<bool> save();

  /// Expires and saves until it is stopped, and once more then. A save comes `interval` after the
  /// one before it, and not before 20 times as long as that took to write: a slow disk delays
  /// saves, and saves take a twentieth of a disk at most.
  void run(StopSignal& stop);

  /// The bytes of a snapshot of now.
  std::string current();

  struct Figures {
    std::uint64_t saves = 0;
    std::uint64_t failures = 0;
    std::uint64_t size_bytes = 0;
    std::chrono::nanoseconds encode{0};  ///< This and the next ones: of the last save.
    std::chrono::nanoseconds hash{0};
    std::chrono::nanoseconds write{0};
    Clock::Wall saved_at{};
  };
  Figures figures() const;
  std::chrono::nanoseconds pause() const;  ///< Until the next save.

 private:
  PeerRegistry& registry_;
  const Clock& clock_;
  const RegistrySnapshotsOptions options_;
  mutable std::mutex mutex_;  ///< Of the file and the encoder: held for a whole save.
  SnapshotFile file_;
  SnapshotEncoder encoder_;
  bool unwritten_ = false;  ///< What was encoded has not reached the disk.
  mutable std::mutex figures_mutex_;
  Figures figures_;
};

}  // namespace orlop
