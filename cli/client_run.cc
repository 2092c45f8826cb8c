#include "cli/client_run.h"

#include <csignal>
#include <cstdio>

#include "cli/exit.h"

namespace orlop {
namespace {

Task<> finish(ClientWork& work, const OriginClients& clients, int& code, asio::io_context& io) {
  code = co_await work.run(clients.all());
  io.stop();  // Not when the signals are over too: they never are.
}

}  // namespace

OriginClients::OriginClients(const Executor& executor, const std::vector<Endpoint>& origins) {
  for (const auto& origin : origins) {
    clients_.push_back(std::make_unique<OriginClient>(executor, origin));
  }
}

std::vector<OriginClient*> OriginClients::all() const {
  std::vector<OriginClient*> all;
  for (const auto& client : clients_) all.push_back(client.get());
  return all;
}

int run_client(const ClientFlags& flags, ClientWork& work) {
  int code = 0;
  asio::io_context io{1};
  asio::basic_signal_set<Executor> signals(io, SIGINT, SIGTERM);
  signals.async_wait([&](const boost::system::error_code& error, int signal) {
    if (error) return;
    code = 128 + signal;
    io.stop();
  });
  const OriginClients clients(io.get_executor(), flags.origins);
  asio::co_spawn(io, finish(work, clients, code, io), rethrow);
  io.run();
  // An answer that got lost is no answer.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return fail(Error(Errc::io_error, "cannot write to standard output"), kExitFailed);
  }
  return code;
}

}  // namespace orlop
