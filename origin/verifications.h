#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <unordered_map>

#include "base/event.h"
#include "core/digest.h"
#include "metadata/records.h"

namespace orlop {

/// One blob that is being hashed behind its readers, or waits for it.
struct Verification {
  Event done;
  /// The file, its names and its record survive a power cut: it may be said that the blob is here.
  std::atomic<bool> durable = false;
  /// Once done: the file that was hashed and was right, if it was.
  std::optional<Fingerprint> right;
};

/// Hashes blobs that are being read by the checked path, one at a time on a thread of its own, each
/// digest once however many read it. One thread, so that a store that was just adopted leaves the
/// disk and the processors to those who read.
///
/// Safe from any thread; only its own thread blocks on the disk.
class Verifications {
 public:
  static constexpr std::size_t kWaitingMax = 10'000;

  /// Hashes one blob and says which file was right. Returns soon once a stop is requested.
  using Verify = std::function<std::optional<Fingerprint>(Digest, const std::stop_token&)>;

  explicit Verifications(Verify verify);
  /// Stops, within the time of reading 1 MiB. What waits is dropped: the next reader after the next
  /// start asks for it again.
  ~Verifications();

  /// The digest's verification, put in line if it is not there yet; null if the line is full.
  std::shared_ptr<Verification> begin(Digest digest);
  /// Null if the digest is not in line.
  std::shared_ptr<Verification> find(Digest digest) const;

  /// Those that wait and the one that runs.
  std::size_t waiting() const;

 private:
  void run(const std::stop_token& stop);

  const Verify verify_;
  mutable std::mutex mutex_;
  std::condition_variable_any wake_;
  std::deque<Digest> line_;
  // Shared by the line and by the downloads that may end their checking.
  std::unordered_map<Digest, std::shared_ptr<Verification>> by_digest_;
  std::jthread thread_;  // Last: it uses all of the above.
};

}  // namespace orlop
