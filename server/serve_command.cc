#include "server/serve_command.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/disk.h"
#include "base/log.h"
#include "base/random.h"
#include "server/configured.h"

namespace orlop {
namespace {

/// Each connection and each open blob is a descriptor; the usual soft limit of 1024 is too low.
void raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  log_info("descriptor_limit", {{"descriptors_max", limit.rlim_cur}});
}

}  // namespace

int serve_command(std::span<const char* const> args) {
  auto config = configured(args);
  if (!config) return fail(config.error(), kExitUsage);
  if (config->help) {
    std::fputs(usage().c_str(), stdout);
    return kExitDone;
  }
  set_log_level(config->log_level);
  for (const auto& notice : config->notices) log_warn("configuration", {{"notice", notice}});
  if (auto named = complete_names(*config); !named) return fail(named.error(), kExitUsage);
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();

  Server server(server_options(*config));
  const auto port = server.listen();
  if (!port) return fail(port.error(), kExitFailed);
  config->port = *port;

  auto lengths = piece_lengths(*config);
  if (!lengths) return fail(lengths.error(), kExitUsage);
  PosixDisk disk;
  const SystemClock clock;
  Random random;
  auto origin = Origin::open(origin_options(*config), *std::move(lengths),
                             node_identity(*config, random), disk, clock, random);
  if (!origin) return fail(origin.error(), kExitFailed);

  log_info("listening", {{"address", config->listen_address},
                         {"port", config->port},
                         {"ring_label", config->ring_label()},
                         {"cache_dir", config->cache_dir.string()},
                         {"database_dir", config->database_dir.string()},
                         {"pid", ::getpid()}});
  server.run(**origin);
  origin->reset();
  log_info("stopped");
  return kExitDone;
}

}  // namespace orlop
