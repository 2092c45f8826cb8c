#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/cidr.h"
#include "base/log.h"
#include "base/result.h"
#include "config/effective.h"

namespace orlop {

/// All that the operator decided, as plain values. `main` maps them to the rooms' option structs,
/// so that no other room knows of YAML, flags or keys. docs/configuration.md lists every key.
///
/// A default-made Config holds the embedded defaults of numbers and times; the folders are empty
/// until `load_config` fills them. The enums are nested because the rooms have their own.
struct Config {
  enum class PeerIdFactory : std::uint8_t { addr_hash, random };
  enum class Durability : std::uint8_t { always, group, never };
  enum class GroupSync : std::uint8_t { syncfs, fsync };

  /// -help was given: print usage() and leave. Nothing else is filled in then.
  bool help = false;

  // Where the bytes are. All three are set and differ; they need not exist yet.
  std::filesystem::path upload_dir;    ///< castore.upload_dir, or DATA/upload
  std::filesystem::path cache_dir;     ///< castore.cache_dir, or DATA/cache
  std::filesystem::path database_dir;  ///< store.database_dir, DATA/db, or <cache_dir>/../orlop
  std::vector<std::filesystem::path> volumes;  ///< castore.volumes: the locations, all different.

  // Who we are and where we listen.
  std::string listen_address = "127.0.0.1";  ///< An IPv4 or IPv6 address, no name, no brackets.
  std::uint16_t port = 15002;                ///< 0: any free port; `main` then stores the real one.
  std::string blobserver_hostname;           ///< Empty if not given: `main` fills in the system's.
  std::string peer_ip;                       ///< Empty if not given: `main` fills in the local one.
  std::uint16_t peer_port = 15001;           ///< Announced to peers. Never 0.
  bool seeds = false;                        ///< -peer-port was given: peers are served there.
  std::string zone;
  std::string cluster;
  /// cluster.static. At most one member, and it must be this node: see check_cluster().
  std::vector<std::string> cluster_members;
  std::string cluster_source;  ///< Where cluster.static was given: "origin.yaml:7". For errors.

  PeerIdFactory peer_id_factory = PeerIdFactory::addr_hash;
  /// metainfogen.piece_lengths: least blob size -> piece length, in bytes. Never empty, no length
  /// is 0, all fit in 63 bits.
  std::map<std::uint64_t, std::uint64_t> piece_lengths = {{0, std::uint64_t{4} << 20}};

  Durability durability = Durability::group;    ///< store.durability
  GroupSync group_sync = GroupSync::syncfs;     ///< store.group_sync
  std::optional<std::uint64_t> free_bytes_min;  ///< store.free_bytes_min; none: the store decides.
  std::uint64_t upload_bytes_max = std::uint64_t{1} << 40;  ///< store.upload_bytes_max, at least 1
  /// store.metainfo_cache_bytes_max, at most 64 GiB; 0: none.
  std::uint64_t metainfo_cache_bytes_max = std::uint64_t{64} << 20;
  std::size_t uploads_max = 10000;  ///< store.uploads_max, at least 1
  unsigned index_cpu_percent = 5;   ///< store.index_cpu_percent, 1 to 100, of one core
  /// castore.upload_cleanup.tti: an upload idle for longer is dropped. Positive; 100 years if
  /// castore.upload_cleanup.disabled.
  std::chrono::nanoseconds upload_tti = std::chrono::hours(6);
  /// scrub.period: every blob is reread once in it; 0: never. Else at least a second.
  std::chrono::nanoseconds scrub_period = std::chrono::hours(24 * 30);
  std::uint64_t scrub_bytes_per_second_max = std::uint64_t{64} << 20;  ///< At least 1.
  bool evict_unbacked = false;  ///< castore.cache_cleanup.evict_unbacked

  /// castore.cache_cleanup. With `disabled` nothing of it is set.
  struct CacheCleanUp {
    std::chrono::nanoseconds interval = std::chrono::minutes(30);  ///< Positive.
    /// None if blobs stay however long nobody uses them: that is without -config, unless it is
    /// given; with -config the default is Kraken's 6 hours.
    std::optional<std::chrono::nanoseconds> tti;
    std::optional<std::chrono::nanoseconds> ttl;  ///< None: off.
    int aggressive_threshold = 0;                 ///< Percent; 0: off.
    int aggressive_lower_threshold = 0;           ///< Below the other one; 0: none.
    std::chrono::nanoseconds aggressive_ttl = std::chrono::hours(1);
  };
  CacheCleanUp cache_cleanup;

  /// scheduler, as far as it concerns one who only seeds. Times are positive.
  struct Seeding {
    std::chrono::nanoseconds conn_tti = std::chrono::seconds(30);
    std::chrono::nanoseconds conn_ttl = std::chrono::hours(1);
    std::chrono::nanoseconds handshake_timeout = std::chrono::seconds(5);
    std::size_t max_open_conn = 10;             ///< connstate.max_open_conn, at least 1
    std::size_t max_mutual_conn = 10;           ///< connstate.max_mutual_conn, at least 1
    std::uint64_t egress_bytes_per_second = 0;  ///< conn.bandwidth; 0: not limited.
    std::size_t connections_max = 2000;         ///< Ours, at least 1.
  };
  Seeding seeding;

  std::vector<Cidr> admin_allow;  ///< admin.allow

  unsigned reactors = 0;  ///< server.reactors; 0: one a core.
  std::chrono::nanoseconds lame_duck = std::chrono::seconds(5);     ///< server.lame_duck, 0 or more
  std::chrono::nanoseconds drain_limit = std::chrono::seconds(30);  ///< server.drain_limit
  std::uint32_t header_bytes_max = 64 << 10;                        ///< server.header_bytes_max
  std::chrono::nanoseconds idle_timeout = std::chrono::minutes(5);  ///< server.idle_timeout
  std::chrono::nanoseconds header_timeout = std::chrono::seconds(30);  ///< server.header_timeout
  std::chrono::nanoseconds progress_timeout =
      std::chrono::seconds(60);         ///< server.progress_timeout
  std::size_t connections_max = 10000;  ///< server.connections_max
  std::size_t reads_max = 4096;         ///< server.reads_max, at least 1
  std::size_t writes_max = 1024;        ///< server.writes_max, at least 1
  std::size_t operations_max = 16;      ///< server.operations_max, at least 1
  LogLevel log_level = LogLevel::info;  ///< log.level; if not given, zap.level

  /// One line each, for the log, once at start: keys that are known but have no effect.
  std::vector<std::string> notices;

  /// What holds and who said it, for `orlop check-config`. Values of -secrets are not shown.
  std::vector<EffectiveSetting> effective;

  /// This node's name in the ring: "<hostname>:<port>", or with the peer IP if there is no hostname
  /// (IPv6 in brackets). Empty before `main` filled in one of the two.
  std::string ring_label() const;
};

/// The ORLOP_… variables of the process, by full name. An empty value counts as not set.
using Environment = std::map<std::string, std::string>;

/// Reads the flags, the environment and the files they name: flags > environment > file > embedded
/// defaults. `args` are those after the subcommand, without the program's name.
///
/// Fails with `invalid_argument` on anything unknown, malformed or not built yet that concerns
/// security or durability; the detail has one mistake a line, each with its file, line and key.
/// Fails as the system did if a file cannot be read. Reads files, so it blocks; no other effects.
Result<Config> load_config(std::span<const char* const> args, const Environment& environment);

/// Whether this node is the only member of `cluster.static`, under its hostname or its peer IP.
/// load_config() cannot tell before both names are known: `main` calls this once it filled them in.
Result<> check_cluster(const Config& config);

/// The text of -help: each flag, its environment variable and its default.
std::string usage();

}  // namespace orlop
