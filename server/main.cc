// The composition root: the only file that knows every room.

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/log.h"
#include "base/random.h"
#include "config/config.h"
#include "core/peer_id.h"
#include "origin/origin.h"
#include "server/server.h"

extern char** environ;  // environ(7)

namespace orlop {
namespace {

constexpr int kExitUsage = 2;  ///< The operator has to change something first.

Environment environment() {
  Environment variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const auto equals = text.find('=');
    if (!text.starts_with("ORLOP_") || equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

std::string system_hostname() {
  std::array<char, 256> name = {};
  if (::gethostname(name.data(), name.size() - 1) != 0) return "localhost";
  return name.data();
}

/// The address that this machine would send from, as Kraken chooses it; nothing is sent.
std::string local_ip() {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(53);
  ::inet_pton(AF_INET, "8.8.8.8", &address.sin_addr);
  socklen_t length = sizeof address;
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  const bool routed = socket && ::connect(socket.get(), raw, sizeof address) == 0 &&
                      ::getsockname(socket.get(), raw, &length) == 0;
  if (!routed) return "127.0.0.1";
  std::array<char, INET_ADDRSTRLEN> text = {};
  ::inet_ntop(AF_INET, &address.sin_addr, text.data(), text.size());
  return text.data();
}

/// Each connection and each open blob is a descriptor; the usual soft limit of 1024 is too low.
void raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  log_info("descriptor_limit", {{"descriptors_max", limit.rlim_cur}});
}

Durability durability_of(Config::Durability durability) {
  switch (durability) {
    case Config::Durability::always: return Durability::always;
    case Config::Durability::group: return Durability::group;
    case Config::Durability::never: return Durability::never;
  }
  ORLOP_UNREACHABLE();
}

OriginOptions origin_options(const Config& config) {
  OriginOptions options;
  options.layout = {.upload_dir = config.upload_dir, .cache_dir = config.cache_dir};
  options.database_dir = config.database_dir;
  options.durability = durability_of(config.durability);
  options.group_sync =
      config.group_sync == Config::GroupSync::fsync ? GroupSync::fsync : GroupSync::syncfs;
  options.free_bytes_min = config.free_bytes_min;
  options.upload_bytes_max = config.upload_bytes_max;
  options.uploads = {.uploads_max = config.uploads_max,
                     .idle_max = config.upload_tti,
                     .ring_label = config.ring_label()};
  options.removal = {.evict_unbacked = config.evict_unbacked};
  return options;
}

ServerOptions server_options(const Config& config) {
  ServerOptions options;
  options.listen_address = config.listen_address;
  options.port = config.port;
  options.reactors = config.reactors;
  options.connections_max = config.connections_max;
  options.lame_duck = config.lame_duck;
  options.drain_limit = config.drain_limit;
  options.session = {.header_bytes_max = config.header_bytes_max,
                     .idle_max = config.idle_timeout,
                     .progress_max = config.progress_timeout};
  options.access = {.admin_allow = config.admin_allow};
  return options;
}

NodeIdentity node_of(const Config& config, Random& random) {
  const auto peer_id = config.peer_id_factory == Config::PeerIdFactory::random
                           ? PeerId::random(random)
                           : PeerId::from_address(config.peer_ip, config.peer_port);
  return {.ring_label = config.ring_label(),
          .peer_context = {.ip = config.peer_ip,
                           .port = config.peer_port,
                           .peer_id = peer_id,
                           .zone = config.zone,
                           .cluster = config.cluster,
                           .origin = true}};
}

int fail(const Error& error, int code) {
  std::fprintf(stderr, "orlop: %s\n", error.detail().c_str());
  return code;
}

int serve_command(std::span<const char* const> args) {
  auto config = load_config(args, environment());
  if (!config) return fail(config.error(), kExitUsage);
  if (config->help) {
    std::fputs(usage().c_str(), stdout);
    return EXIT_SUCCESS;
  }
  set_log_level(config->log_level);
  for (const auto& notice : config->notices) log_warn("configuration", {{"notice", notice}});
  if (config->blobserver_hostname.empty()) config->blobserver_hostname = system_hostname();
  if (config->peer_ip.empty()) config->peer_ip = local_ip();
  if (auto alone = check_cluster(*config); !alone) return fail(alone.error(), kExitUsage);
  std::signal(SIGPIPE, SIG_IGN);
  raise_descriptor_limit();

  Server server(server_options(*config));
  const auto port = server.listen();
  if (!port) return fail(port.error(), EXIT_FAILURE);
  config->port = *port;

  auto piece_lengths = PieceLengths::make(config->piece_lengths);
  if (!piece_lengths) return fail(piece_lengths.error(), kExitUsage);
  PosixDisk disk;
  const SystemClock clock;
  Random random;
  auto origin = Origin::open(origin_options(*config), *std::move(piece_lengths),
                             node_of(*config, random), disk, clock, random);
  if (!origin) return fail(origin.error(), EXIT_FAILURE);

  log_info("listening", {{"address", config->listen_address},
                         {"port", config->port},
                         {"ring_label", config->ring_label()},
                         {"cache_dir", config->cache_dir.string()},
                         {"database_dir", config->database_dir.string()},
                         {"pid", ::getpid()}});
  server.run(**origin);
  origin->reset();
  log_info("stopped");
  return EXIT_SUCCESS;
}

/// `orlop` with flags only, or under Kraken's name, serves: a unit file that started
/// kraken-origin needs no other change than the path.
int run(std::vector<const char*> args) {
  const std::string_view first = args.size() > 1 ? args[1] : "";
  const std::span<const char* const> all(args);
  if (first == "version" || first == "--version" || first == "-version") {
    std::puts("orlop " ORLOP_VERSION);
    return EXIT_SUCCESS;
  }
  if (first == "help") {
    std::fputs(usage().c_str(), stdout);
    return EXIT_SUCCESS;
  }
  if (first == "serve") return serve_command(all.subspan(2));
  if (first.empty() || first.starts_with('-')) return serve_command(all.subspan(1));
  std::fprintf(stderr, "orlop: unknown command \"%s\"; there are: serve, help, version\n",
               log_escaped(first).c_str());
  return kExitUsage;
}

}  // namespace
}  // namespace orlop

int main(int argc, char** argv) { return orlop::run(std::vector<const char*>(argv, argv + argc)); }
