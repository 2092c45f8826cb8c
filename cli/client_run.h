#pragma once

#include <memory>
#include <vector>

#include "base/asio.h"
#include "cli/client_flags.h"
#include "cluster/origin_client.h"

namespace orlop {

/// One client for each of the origins.
class OriginClients {
 public:
  OriginClients(const Executor& executor, const std::vector<Endpoint>& origins);

  /// In the order given. They live as long as this.
  std::vector<OriginClient*> all() const;

 private:
  std::vector<std::unique_ptr<OriginClient>> clients_;
};

/// What a command does with the origins; its exit code.
class ClientWork {
 public:
  virtual ~ClientWork() = default;
  virtual Task<int> run(const std::vector<OriginClient*>& origins) = 0;
};

/// Runs it to its end on an event loop of its own. SIGINT and SIGTERM end it early, as if it had
/// been destroyed in the middle: then the code is 128 and the signal, as in a shell.
int run_client(const ClientFlags& flags, ClientWork& work);

}  // namespace orlop
