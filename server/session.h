#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "origin/origin.h"
#include "server/connection.h"
#include "server/health.h"
#include "server/router.h"
#include "server/send.h"

namespace orlop {

struct SessionOptions {
  std::uint32_t header_bytes_max = 64 << 10;
  std::chrono::nanoseconds idle_max{std::chrono::minutes(5)};
  /// For all of a head, from its first byte: a head that comes in drips is not progress.
  std::chrono::nanoseconds header_max{std::chrono::seconds(30)};
  /// A client must send some of its body, or take some of the answer, each time this is over. Never
  /// a limit on the whole.
  std::chrono::nanoseconds progress_max{std::chrono::seconds(60)};
};

/// What all sessions use; outlives them.
struct SessionContext {
  const Router& router;
  Origin& origin;
  const Health& health;
  SessionOptions options;
};

/// Serves one connection: request after request, until the client or the group ends it.
Task<> serve(Socket socket, ConnectionGroup& group, const SessionContext& context,
             std::uint64_t connection_number);

}  // namespace orlop
