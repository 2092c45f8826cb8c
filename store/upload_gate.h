#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "base/event.h"
#include "base/result.h"

namespace orlop {

/// Lets one writer at a time into an upload, and none after it was sealed for its commit.
///
/// A second writer waits; a third takes its place, and the second is refused. A writer whose client
/// has been silent for `takeover_after` is interrupted as soon as another one waits. Both for the
/// same reason: a dropped connection, which we may not have noticed yet, must not hold up its own
/// client's retry (cases.md, C05). Of several requests the last one is the one that has a client.
/// Safe from any reactor.
class UploadGate {
 public:
  struct Limits {
    std::chrono::milliseconds wait_max{30'000};
    std::chrono::milliseconds takeover_after{2'000};
  };

  UploadGate() : UploadGate(Limits{}) {}
  explicit UploadGate(Limits limits) : limits_(limits) {}

  /// Enters as the writer. `interrupt` may be called once, from any thread, while inside: it makes
  /// the writer's pending read fail. `busy` if another writer came while this one waited, or the
  /// wait took too long; `not_found` if the upload is sealed.
  Task<Result<>> enter(std::function<void()> interrupt);
  /// The writer heard from its client, or waits for it again.
  void progress();
  /// The writer waits for our own disk until the next `progress`: its client is not silent.
  void pause();
  void leave();

  /// Nobody is inside, nobody waits, and it is not sealed: no request is working on the upload.
  bool idle() const;

  /// Waits for the writer inside and lets no other in. `busy` if another writer waits, the wait
  /// took too long, or it is being sealed already: somebody else commits it.
  Task<Result<>> seal();
  /// The commit failed in a way that keeps the upload: writers may enter again.
  void unseal();

 private:
  struct Waiter {
    Event turn;
    bool displaced = false;
  };

  enum class Manner : std::uint8_t { polite, displacing };
  Task<Result<>> wait_until_empty(Manner manner);

  Limits limits_;
  mutable std::mutex mutex_;
  bool inside_ = false;
  bool sealed_ = false;
  std::function<void()> interrupt_;
  std::optional<std::chrono::steady_clock::time_point> heard_at_;  ///< Empty: paused.
  std::shared_ptr<Waiter> waiter_;  // Shared with the coroutine that waits.
};

}  // namespace orlop
