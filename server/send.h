#pragma once

#include <chrono>
#include <string_view>

#include "base/worker_pool.h"
#include "server/connection.h"
#include "server/reply.h"

namespace orlop {

struct SendOptions {
  /// A client that takes nothing for this long is hung up on.
  std::chrono::nanoseconds silence_max{std::chrono::seconds(60)};
};

/// Writes an answer. Small ones are one gathered write; the bytes of a large blob go by
/// sendfile(2) in slices, each looked for in the page cache first, so that a cold blob is read in
/// on the pool and does not stop the reactor. Those of an unverified blob are compared with its
/// sums first, and sent from memory. False if the answer could not be finished: then the
/// connection must be closed, so that a cut body cannot be taken for a whole one.
Task<bool> send_reply(Connection& connection, const Reply& reply, const Request& request,
                      bool keep_alive, std::string_view date, WorkerPool& pool,
                      const SendOptions& options);

}  // namespace orlop
