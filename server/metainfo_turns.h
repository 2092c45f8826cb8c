#pragma once

#include <chrono>

#include "base/asio.h"
#include "origin/origin.h"

namespace orlop {

/// Makes a reactor's thread a reader of the metainfo cache, and lets it rest between two turns of
/// its loop: a timer that is armed when the reader begins to look, so an idle reactor always rests
/// and a busy one does so fifty times a second. A timer and not each turn, because io_context::run
/// has no hook for that, and run_one would lose the memory that Asio keeps for the next coroutine.
///
/// On the reactor's thread, around `run()`. `io` outlives it.
class MetaInfoTurns {
 public:
  MetaInfoTurns(MetaInfoCache& cache, asio::io_context& io)
      : timer_(io), reader_(cache, [this] { rest_soon(); }) {}
  MetaInfoTurns(const MetaInfoTurns&) = delete;
  MetaInfoTurns& operator=(const MetaInfoTurns&) = delete;

 private:
  static constexpr std::chrono::milliseconds kRestAfter{20};

  void rest_soon() {
    timer_.expires_after(kRestAfter);
    timer_.async_wait([this](const boost::system::error_code&) { reader_.rest(); });
  }

  SteadyTimer timer_;
  MetaInfoReader reader_;
};

}  // namespace orlop
