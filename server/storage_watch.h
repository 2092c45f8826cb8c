#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "origin/figures.h"

namespace orlop {

/// Asks the disk what only it knows, on a thread of its own and only when somebody looks. A disk
/// that hangs is when an operator looks at the metrics, so they must not hang with it: then there
/// is the last answer, and its age.
///
/// Safe from any thread.
class StorageWatch {
 public:
  using Ask = std::function<StorageFigures()>;

  struct Seen {
    StorageFigures figures;
    std::chrono::nanoseconds age{0};
  };

  /// `ask` may block. It is called on the thread of this object alone, and ends before it.
  explicit StorageWatch(Ask ask);
  /// Waits for the question that is being asked.
  ~StorageWatch();

  /// An answer that was given after this call began, if there is one within `patience`; else the
  /// last one, if there has been any. Blocks, not on a disk.
  std::optional<Seen> look(std::chrono::nanoseconds patience);

 private:
  void run(const std::stop_token& stop);

  const Ask ask_;
  std::mutex mutex_;  // Guards what follows.
  std::condition_variable_any wake_;
  bool asked_for_ = false;
  std::uint64_t answers_ = 0;
  std::optional<StorageFigures> last_;
  std::chrono::steady_clock::time_point answered_at_;
  std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace orlop
