#include "server/configured.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>

#include "base/unique_fd.h"
#include "core/peer_id.h"

extern char** environ;  // environ(7)

namespace orlop {
namespace {

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

Durability durability_of(Config::Durability durability) {
  switch (durability) {
    case Config::Durability::always: return Durability::always;
    case Config::Durability::group: return Durability::group;
    case Config::Durability::never: return Durability::never;
  }
  ORLOP_UNREACHABLE();
}

}  // namespace

Result<Config> configured(std::span<const char* const> args) {
  return load_config(args, environment());
}

Result<> complete_names(Config& config) {
  if (config.blobserver_hostname.empty()) config.blobserver_hostname = system_hostname();
  if (config.peer_ip.empty()) config.peer_ip = local_ip();
  return check_cluster(config);
}

OriginOptions origin_options(const Config& config) {
  OriginOptions options;
  options.layout = {.upload_dir = config.upload_dir, .cache_dir = config.cache_dir};
  options.volumes = config.volumes;
  options.database_dir = config.database_dir;
  options.durability = durability_of(config.durability);
  options.group_sync =
      config.group_sync == Config::GroupSync::fsync ? GroupSync::fsync : GroupSync::syncfs;
  options.free_bytes_min = config.free_bytes_min;
  options.upload_bytes_max = config.upload_bytes_max;
  options.metainfo_cache = {.bytes_max = config.metainfo_cache_bytes_max};
  options.indexer = {.cpu_share = config.index_cpu_percent / 100.0};
  options.uploads = {.uploads_max = config.uploads_max,
                     .idle_max = config.upload_tti,
                     .ring_label = config.ring_label()};
  options.scrub = {.period = config.scrub_period,
                   .bytes_per_second_max = config.scrub_bytes_per_second_max};
  options.removal = {.evict_unbacked = config.evict_unbacked};
  const auto& clean_up = config.cache_cleanup;
  options.eviction = {.interval = clean_up.interval,
                      .idle_max = clean_up.tti,
                      .age_max = clean_up.ttl,
                      .high_percent = clean_up.aggressive_threshold,
                      .low_percent = clean_up.aggressive_lower_threshold,
                      .age_max_when_full = clean_up.aggressive_ttl};
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
                     .header_max = config.header_timeout,
                     .progress_max = config.progress_timeout};
  options.limits = {.reads_max = config.reads_max,
                    .writes_max = config.writes_max,
                    .operations_max = config.operations_max};
  options.version = ORLOP_VERSION;
  options.access = {.admin_allow = config.admin_allow};
  return options;
}

SeederOptions seeder_options(const Config& config, PeerId self) {
  const auto& seeding = config.seeding;
  return {.listen_address = config.listen_address,
          .port = config.peer_port,
          .self = self,
          .handshake_max = seeding.handshake_timeout,
          .idle_max = seeding.conn_tti,
          .age_max = seeding.conn_ttl,
          .torrent_connections_max = seeding.max_open_conn,
          .neighbours_max = seeding.max_mutual_conn,
          .connections_max = seeding.connections_max,
          .egress_bytes_per_second = seeding.egress_bytes_per_second};
}

Result<PieceLengths> piece_lengths(const Config& config) {
  return PieceLengths::make(config.piece_lengths);
}

NodeIdentity node_identity(const Config& config, Random& random) {
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

}  // namespace orlop
