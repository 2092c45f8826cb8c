#pragma once

#include <chrono>
#include <optional>
#include <span>
#include <string>

#include "base/disk.h"
#include "base/result.h"
#include "core/metainfo.h"

namespace orlop {

/// That a blob must reach the backend of a namespace, and how long to wait before trying.
struct WriteBackOrder {
  std::string name_space;
  std::chrono::nanoseconds delay{0};
};

/// What is recorded with a blob besides its bytes.
struct CommitNote {
  bool backed = false;  ///< There is a copy elsewhere, so this one may be evicted.
  std::optional<WriteBackOrder> write_back;
};

struct CommitRecord {
  const MetaInfo* metainfo;
  FileStat file;  ///< After the rename, which changes ctime.
  const CommitNote* note;
};

/// Where the committer writes down what it committed: the metadata room, through `origin/`, since
/// rooms do not know each other. Calls block.
class CommitJournal {
 public:
  virtual ~CommitJournal() = default;

  /// Records a group in one atomic write that reaches the kernel, without a sync.
  virtual Result<> record(std::span<const CommitRecord> group) = 0;
  /// Takes back that the bytes of a group are what their names say: a sync of them failed. Whoever
  /// finds a file of theirs has to hash it. Best effort: the files are being removed too.
  virtual void distrust(std::span<const CommitRecord> group) = 0;
  /// Makes what was recorded survive a power cut.
  virtual Result<> sync() = 0;
};

}  // namespace orlop
