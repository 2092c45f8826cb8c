#include "server/serve_command.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/disk.h"
#include "base/file_system.h"
#include "base/log.h"
#include "base/random.h"
#include "base/service_state.h"
#include "origin/blob_seeds.h"
#include "peer/seeder.h"
#include "server/configured.h"
#include "server/descriptor_budget.h"
#include "store/free_space.h"

namespace orlop {
namespace {

std::int64_t milliseconds(std::chrono::nanoseconds time) {
  return time / std::chrono::milliseconds(1);
}

/// Every limit that holds, in one line: the first thing to look at when something is refused.
/// A second one if the system allows for less than was wanted.
void log_limits(const Config& config, const DescriptorBudget& budget) {
  log_info("limits", {{"descriptors_max", budget.descriptors_max},
                      {"connections_max", budget.connections_max},
                      {"uploads_max", budget.uploads_max},
                      {"reads_max", config.reads_max},
                      {"writes_max", config.writes_max},
                      {"operations_max", config.operations_max},
                      {"upload_bytes_max", config.upload_bytes_max},
                      {"header_bytes_max", config.header_bytes_max},
                      {"header_timeout_ms", milliseconds(config.header_timeout)},
                      {"progress_timeout_ms", milliseconds(config.progress_timeout)},
                      {"idle_timeout_ms", milliseconds(config.idle_timeout)}});
  if (budget.connections_max == config.connections_max &&
      budget.uploads_max == config.uploads_max) {
    return;
  }
  log_info("few_descriptors", {{"descriptors_max", budget.descriptors_max},
                               {"connections_wanted", config.connections_max},
                               {"uploads_wanted", config.uploads_max}});
}

std::string_view name_of(Config::Durability durability) {
  switch (durability) {
    case Config::Durability::always: return "always";
    case Config::Durability::group: return "group";
    case Config::Durability::never: return "never";
  }
  ORLOP_UNREACHABLE();
}

/// How long peers may take for the pieces that they are in, once requests are over.
constexpr std::chrono::seconds kPiecesMax{5};

/// What the promises rest on. The folders are there by now.
void log_storage(const Config& config) {
  const auto use = space_use(config.upload_dir);
  const std::string_view sync = config.group_sync == Config::GroupSync::fsync ? "fsync" : "syncfs";
  log_info("storage", {{"durability", name_of(config.durability)},
                       {"group_sync", sync},
                       {"free_bytes_min", use ? space_floor(*use, config.free_bytes_min) : 0},
                       {"free_bytes", use ? use->free_bytes : 0},
                       {"upload_dir_on", file_system_kind(config.upload_dir)},
                       {"cache_dir_on", file_system_kind(config.cache_dir)},
                       {"database_dir_on", file_system_kind(config.database_dir)}});
}

/// Until the server waits for signals itself. In a container we are process 1, for which the kernel
/// ignores signals without a handler: `docker stop` during the start would wait and then kill.
/// Nothing was acknowledged yet, so there is nothing to end cleanly.
void end_at_signals_during_start() {
  std::signal(SIGTERM, [](int) { std::_Exit(kExitDone); });
  std::signal(SIGINT, [](int) { std::_Exit(kExitDone); });
}

}  // namespace

int serve_command(std::span<const char* const> args) {
  end_at_signals_during_start();
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
  const auto budget =
      share_descriptors(raise_descriptor_limit(), config->connections_max, config->uploads_max);
  log_limits(*config, budget);
  config->connections_max = budget.connections_max;
  config->uploads_max = budget.uploads_max;

  Server server(server_options(*config));
  const auto port = server.listen();
  if (!port) return fail(port.error(), kExitFailed);
  config->port = *port;

  Random random;
  const auto identity = node_identity(*config, random);
  // Like the server it outlives the origin: the pool's threads wake its sessions.
  std::optional<Seeder> seeder;
  if (config->seeds) {
    seeder.emplace(seeder_options(*config, identity.peer_context.peer_id));
    if (auto listening = seeder->listen(); !listening) return fail(listening.error(), kExitFailed);
  }

  auto lengths = piece_lengths(*config);
  if (!lengths) return fail(lengths.error(), kExitUsage);
  PosixDisk disk;
  const SystemClock clock;
  auto origin =
      Origin::open(origin_options(*config), *std::move(lengths), identity, disk, clock, random);
  if (!origin) return fail(origin.error(), kExitFailed);

  log_storage(*config);
  log_info("listening", {{"address", config->listen_address},
                         {"port", config->port},
                         {"ring_label", config->ring_label()},
                         {"cache_dir", config->cache_dir.string()},
                         {"database_dir", config->database_dir.string()},
                         {"pid", ::getpid()}});
  BlobSeeds seeds(**origin);
  if (seeder) {
    seeder->start(seeds);
    log_info("seeding", {{"address", config->listen_address},
                         {"peer_port", config->peer_port},
                         {"peer_id", identity.peer_context.peer_id.hex()}});
  }
  tell_service_manager("READY=1");
  server.run(**origin, [] { tell_service_manager("STOPPING=1"); });
  if (seeder) seeder->stop(kPiecesMax);
  origin->reset();
  log_info("stopped");
  return kExitDone;
}

}  // namespace orlop
