#include "config/config.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <map>
#include <string>
#include <vector>

#include "tests/config/written_files.h"

namespace {

using namespace orlop;
using namespace std::chrono_literals;
using Catch::Contains;

TEST_CASE("defaults: a bare start is a single origin on this machine alone") {
  const auto config = load({});

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->upload_dir == "orlop-data/upload");
  CHECK(config->cache_dir == "orlop-data/cache");
  CHECK(config->database_dir == "orlop-data/db");
  CHECK(config->listen_address == "127.0.0.1");
  CHECK(config->port == 15002);
  CHECK(config->peer_port == 15001);
  CHECK(config->peer_id_factory == Config::PeerIdFactory::addr_hash);
  CHECK(config->piece_lengths == std::map<std::uint64_t, std::uint64_t>{{0, 4194304}});
  CHECK(config->durability == Config::Durability::group);
  CHECK(config->group_sync == Config::GroupSync::syncfs);
  CHECK_FALSE(config->free_bytes_min);
  CHECK(config->upload_bytes_max == 1099511627776);
  CHECK(config->uploads_max == 10000);
  CHECK(config->scrub_period == 720h);
  CHECK(config->scrub_bytes_per_second_max == 67108864);
  CHECK(config->upload_tti == 6h);
  CHECK_FALSE(config->evict_unbacked);
  CHECK_FALSE(config->cache_cleanup.tti);
  CHECK_FALSE(config->cache_cleanup.ttl);
  CHECK(config->cache_cleanup.aggressive_threshold == 0);
  CHECK(config->admin_allow.empty());
  CHECK(config->reactors == 0);
  CHECK(config->lame_duck == 5s);
  CHECK(config->drain_limit == 30s);
  CHECK(config->header_bytes_max == 65536);
  CHECK(config->idle_timeout == 5min);
  CHECK(config->progress_timeout == 60s);
  CHECK(config->connections_max == 10000);
  CHECK(config->log_level == LogLevel::info);
  CHECK(config->notices.empty());
  CHECK_FALSE(config->help);
}

TEST_CASE("keys: each of ours reaches its field") {
  const auto config = load_with(R"(
store:
  database_dir: /db
  durability: always
  group_sync: fsync
  free_bytes_min: 1GB
  upload_bytes_max: 2GB
  uploads_max: 7
scrub: {period: 24h, bytes_per_second_max: 1MB}
admin: {allow: [10.0.0.0/8, "::1"]}
server:
  reactors: 3
  lame_duck: 0s
  drain_limit: 1m
  header_bytes_max: 8KB
  idle_timeout: 2m
  progress_timeout: 30s
  connections_max: 11
log: {level: error}
)");

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->database_dir == "/db");
  CHECK(config->durability == Config::Durability::always);
  CHECK(config->group_sync == Config::GroupSync::fsync);
  CHECK(config->free_bytes_min == std::uint64_t{1} << 30);
  CHECK(config->upload_bytes_max == std::uint64_t{2} << 30);
  CHECK(config->uploads_max == 7);
  CHECK(config->scrub_period == 24h);
  CHECK(config->scrub_bytes_per_second_max == 1048576);
  REQUIRE(config->admin_allow.size() == 2);
  CHECK(config->admin_allow[0].to_string() == "10.0.0.0/8");
  CHECK(config->admin_allow[1].to_string() == "::1/128");
  CHECK(config->reactors == 3);
  CHECK(config->lame_duck == 0s);
  CHECK(config->drain_limit == 1min);
  CHECK(config->header_bytes_max == 8192);
  CHECK(config->idle_timeout == 2min);
  CHECK(config->progress_timeout == 30s);
  CHECK(config->connections_max == 11);
  CHECK(config->log_level == LogLevel::error);
  CHECK(notices_of(config) == "");
}

TEST_CASE("keys: those of Kraken that are built reach their field") {
  const auto config = load_text(R"(
peer_id_factory: random
metainfogen: {piece_lengths: {0: 1MB, 2GB: 8MB}}
castore:
  upload_dir: /u/
  cache_dir: /c//blobs/
  upload_cleanup: {tti: 90m}
  cache_cleanup: {evict_unbacked: yes}
zap: {level: WARN}
tls: {server: {disabled: true}}
)");

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->peer_id_factory == Config::PeerIdFactory::random);
  CHECK(config->piece_lengths ==
        std::map<std::uint64_t, std::uint64_t>{{0, 1 << 20}, {std::uint64_t{2} << 30, 8 << 20}});
  CHECK(config->upload_dir == "/u");
  CHECK(config->cache_dir == "/c/blobs");
  CHECK(config->database_dir == "/c/orlop");
  CHECK(config->upload_tti == 90min);
  CHECK(config->evict_unbacked);
  CHECK(config->log_level == LogLevel::warn);
}

TEST_CASE("clean-up: a Kraken file without it means Kraken's defaults") {
  const auto more = GENERATE("", "castore: {cache_cleanup: {tti: 0, ttl: 0, interval: 0}}\n");
  const auto config = load_with(more);

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->cache_cleanup.interval == 30min);
  CHECK(config->cache_cleanup.tti == 6h);
  CHECK_FALSE(config->cache_cleanup.ttl);
  CHECK(config->cache_cleanup.aggressive_threshold == 0);
  CHECK(config->cache_cleanup.aggressive_lower_threshold == 0);
  CHECK(config->cache_cleanup.aggressive_ttl == 1h);
}

TEST_CASE("clean-up: each key reaches its field") {
  const auto config = load_with(
      "castore: {cache_cleanup: {interval: 1m, tti: 2h, ttl: 3h, aggressive_threshold: 80, "
      "aggressive_lower_threshold: 60, aggressive_ttL: 4h}}\n");

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->cache_cleanup.interval == 1min);
  CHECK(config->cache_cleanup.tti == 2h);
  CHECK(config->cache_cleanup.ttl == 3h);
  CHECK(config->cache_cleanup.aggressive_threshold == 80);
  CHECK(config->cache_cleanup.aggressive_lower_threshold == 60);
  CHECK(config->cache_cleanup.aggressive_ttl == 4h);
  CHECK(notices_of(config) == "");
}

TEST_CASE("clean-up: both spellings of aggressive_ttL are read, and Kraken's wins") {
  const auto ours = load_with("castore: {cache_cleanup: {aggressive_ttl: 5h}}\n");
  const auto both =
      load_with("castore: {cache_cleanup: {aggressive_ttl: 5h, aggressive_ttL: 4h}}\n");

  REQUIRE(mistakes_of(ours) == "");
  CHECK(ours->cache_cleanup.aggressive_ttl == 5h);
  REQUIRE(mistakes_of(both) == "");
  CHECK(both->cache_cleanup.aggressive_ttl == 4h);
}

TEST_CASE("clean-up: without -config only what is given holds, and disabled nothing") {
  const auto given = load({"-set", "castore.cache_cleanup.tti=2h"});
  const auto disabled = load_with(
      "castore: {cache_cleanup: {disabled: true, tti: 2h, ttl: 1h, "
      "aggressive_threshold: 80, evict_unbacked: true}}\n");

  REQUIRE(mistakes_of(given) == "");
  CHECK(given->cache_cleanup.tti == 2h);
  REQUIRE(mistakes_of(disabled) == "");
  CHECK_FALSE(disabled->cache_cleanup.tti);
  CHECK_FALSE(disabled->cache_cleanup.ttl);
  CHECK(disabled->cache_cleanup.aggressive_threshold == 0);
  CHECK(disabled->evict_unbacked);  // For the clean-up that an operator asks for.
}

TEST_CASE("clean-up: marks are percents, the lower one not above the other") {
  for (const auto* marks : {"aggressive_threshold: 101", "aggressive_threshold: -1",
                            "aggressive_threshold: 80, aggressive_lower_threshold: 81"}) {
    CAPTURE(marks);
    const auto config = load_with("castore: {cache_cleanup: {" + std::string(marks) + "}}\n");
    CHECK_THAT(mistakes_of(config), Contains("aggressive_"));
  }
}

TEST_CASE("uploads: a time of zero is Kraken's default, and disabled clean-up is for ever") {
  const auto zero = load_with("castore: {upload_cleanup: {tti: 0}}\n");
  const auto disabled = load_with("castore: {upload_cleanup: {disabled: true, tti: 1h}}\n");

  REQUIRE(mistakes_of(zero) == "");
  CHECK(zero->upload_tti == 6h);
  REQUIRE(mistakes_of(disabled) == "");
  CHECK(disabled->upload_tti > 24h * 365 * 50);
}

TEST_CASE(
    "address: a bare start is for this machine, and who names a port or a file is reachable") {
  const WrittenFiles files;
  const auto file = files.write("origin.yaml", kLeastFile);
  const auto address = [](const std::vector<std::string>& args,
                          const Environment& environment = {}) {
    const auto config = load(args, environment);
    return config ? config->listen_address : config.error().detail();
  };

  CHECK(address({}) == "127.0.0.1");
  CHECK(address({"-data", "d"}) == "127.0.0.1");
  CHECK(address({"-config", file}) == "0.0.0.0");
  CHECK(address({}, {{"ORLOP_CONFIG", file}}) == "0.0.0.0");
  CHECK(address({"-blobserver-port", "80"}) == "0.0.0.0");
  CHECK(address({}, {{"ORLOP_BLOBSERVER_PORT", "80"}}) == "0.0.0.0");
  CHECK(address({"-listen", "::1"}) == "::1");
  CHECK(address({}, {{"ORLOP_LISTEN", "10.0.0.1"}}) == "10.0.0.1");
  CHECK(address({"-config", file, "-listen", "127.0.0.1"}) == "127.0.0.1");
}

TEST_CASE("flags: who and where this node is") {
  const auto config = load({"-blobserver-hostname", "origin1", "-blobserver-port", "0", "-peer-ip",
                            "10.0.0.1", "-peer-port", "7", "-zone", "z", "-cluster", "c"});

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->blobserver_hostname == "origin1");
  CHECK(config->port == 0);
  CHECK(config->peer_ip == "10.0.0.1");
  CHECK(config->peer_port == 7);
  CHECK(config->zone == "z");
  CHECK(config->cluster == "c");
}

TEST_CASE("ring label: the hostname, else the peer IP, and IPv6 in brackets") {
  Config config;
  CHECK(config.ring_label().empty());
  config.peer_ip = "fd00::1";
  CHECK(config.ring_label() == "[fd00::1]:15002");
  config.peer_ip = "10.0.0.1";
  CHECK(config.ring_label() == "10.0.0.1:15002");
  config.blobserver_hostname = "origin1";
  CHECK(config.ring_label() == "origin1:15002");
}

TEST_CASE("precedence: flags win over variables, variables over files, files over defaults") {
  const WrittenFiles files;
  const auto file = files.write("origin.yaml", std::string(kLeastFile) + "log: {level: debug}\n");
  const auto level = [](const std::vector<std::string>& args, const Environment& environment) {
    const auto config = load(args, environment);
    REQUIRE(mistakes_of(config) == "");
    return config->log_level;
  };

  CHECK(level({}, {}) == LogLevel::info);
  CHECK(level({"-config", file}, {}) == LogLevel::debug);
  CHECK(level({"-config", file}, {{"ORLOP_LOG_LEVEL", "warn"}}) == LogLevel::warn);
  CHECK(level({"-config", file}, {{"ORLOP_SET", "log.level=warn"}}) == LogLevel::warn);
  CHECK(level({"-config", file, "-log-level", "error"}, {{"ORLOP_LOG_LEVEL", "warn"}}) ==
        LogLevel::error);
  CHECK(level({"-log-level", "error"}, {{"ORLOP_SET", "log.level=warn"}}) == LogLevel::error);
  CHECK(level({"-log-level", "error", "-set", "log.level=debug"}, {}) == LogLevel::debug);
}

TEST_CASE("precedence: a flag without a key wins over its variable too") {
  const auto config = load({"-zone", "flag", "-blobserver-port", "1"},
                           {{"ORLOP_ZONE", "variable"}, {"ORLOP_BLOBSERVER_PORT", "2"}});

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->zone == "flag");
  CHECK(config->port == 1);
}

TEST_CASE("precedence: a data folder given by hand replaces all three of the file") {
  const WrittenFiles files;
  const auto file =
      files.write("origin.yaml", std::string(kLeastFile) + "store: {database_dir: /file/db}\n");

  const auto flag = load({"-config", file, "-data", "/d"}, {{"ORLOP_DATA", "/e"}});
  const auto variable = load({"-config", file}, {{"ORLOP_DATA", "/e"}});
  const auto part = load({"-data", "/d", "-set", "store.database_dir=/fast"});

  REQUIRE(mistakes_of(flag) == "");
  CHECK(flag->upload_dir == "/d/upload");
  CHECK(flag->cache_dir == "/d/cache");
  CHECK(flag->database_dir == "/d/db");
  REQUIRE(mistakes_of(variable) == "");
  CHECK(variable->database_dir == "/e/db");
  REQUIRE(mistakes_of(part) == "");
  CHECK(part->cache_dir == "/d/cache");
  CHECK(part->database_dir == "/fast");
}

TEST_CASE("set: any key by its path, lists and maps in YAML, nothing to reset") {
  const auto config =
      load_with("store: {uploads_max: 5}\n",
                {"-set", "admin.allow=[10.0.0.0/8]", "-set", "metainfogen.piece_lengths.1GB=8MB",
                 "-set", "store.uploads_max=", "-set", "server.lame_duck=1m"});

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->admin_allow.size() == 1);
  CHECK(config->piece_lengths.at(std::uint64_t{1} << 30) == std::uint64_t{8} << 20);
  CHECK(config->piece_lengths.at(0) == std::uint64_t{4} << 20);
  CHECK(config->uploads_max == 10000);
  CHECK(config->lame_duck == 1min);
}

TEST_CASE("set: a misspelt key and a wrong type are mistakes of the flag") {
  CHECK_THAT(mistakes_of(load({"-set", "castore.cach_dir=/x"})),
             Contains("-set: castore.cach_dir: unknown key; did you mean castore.cache_dir?"));
  CHECK(mistakes_of(load({"-set", "scrub.period=0s"})) == "");
  CHECK_THAT(mistakes_of(load({"-set", "scrub.period=999ms"})),
             Contains("-set: scrub.period: expected 0, which is never, or at least 1s"));
  CHECK_THAT(mistakes_of(load({"-set", "store.uploads_max=many"})),
             Contains("-set: store.uploads_max: expected an integer, got many"));
  CHECK_THAT(mistakes_of(load({}, {{"ORLOP_SET", "store.uploads_max=many"}})),
             Contains("ORLOP_SET: store.uploads_max: "));
}

TEST_CASE("example: a file in the shape of a Kraken origin's loads, and each notice is said once") {
  const std::string file = ORLOP_SOURCE_DIR "/tests/config/kraken_origin.yaml";
  const auto config = load({"-config", file, "-blobserver-hostname", "origin1", "-blobserver-port",
                            "15002", "-peer-ip", "10.0.0.1", "-peer-port", "15001"});

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->cache_dir == "/var/cache/kraken/kraken-origin/cache");
  CHECK(config->database_dir == "/var/cache/kraken/kraken-origin/orlop");
  CHECK(config->cluster_members == std::vector<std::string>{"origin1:15002"});
  CHECK(check_cluster(*config));
  for (const auto* section :
       {"scheduler", "nginx", "blobserver.listener", "castore.capacity", "castore.memory_cache",
        "hashring", "writeback", "localdb", "metrics"}) {
    const auto is_of = [&](const std::string& notice) {
      return notice.find(": " + std::string(section)) != std::string::npos;
    };
    INFO(section << "\n" << notices_of(config));
    CHECK(std::count_if(config->notices.begin(), config->notices.end(), is_of) == 1);
  }
}

TEST_CASE("volumes: each location is a folder, in the order of the file") {
  const auto config =
      load_with("castore: {volumes: [{location: /mnt/b/}, {location: /mnt/x/../a}]}\n");

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->volumes == std::vector<std::filesystem::path>{"/mnt/b", "/mnt/a"});
}

TEST_CASE("volumes: one without a location, or the same one twice, stops the start") {
  CHECK_THAT(mistakes_of(load_with("castore: {volumes: [{weight: 1}]}\n")),
             Contains("origin.yaml:5: castore.volumes: a volume needs a location"));
  CHECK_THAT(mistakes_of(load_with("castore: {volumes: [{location: /a}, {location: /a/}]}\n")),
             Contains("castore.volumes[].location: the same folder twice"));
}

}  // namespace
