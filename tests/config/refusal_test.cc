#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/config/written_files.h"

namespace {

using namespace orlop;
using Catch::Contains;

TEST_CASE("required: a file must say what Kraken has no default for, and the error says how") {
  const auto config = load_text("verbose: on\n");

  REQUIRE_FALSE(config);
  CHECK(config.error().code() == Errc::invalid_argument);
  const auto mistakes = mistakes_of(config);
  CHECK_THAT(mistakes, Contains("origin.yaml: peer_id_factory: required"));
  CHECK_THAT(mistakes, Contains("write addr_hash or random"));
  CHECK_THAT(mistakes, Contains("origin.yaml: metainfogen.piece_lengths: required"));
  CHECK_THAT(mistakes, Contains("origin.yaml: castore.upload_dir: not set"));
  CHECK_THAT(mistakes, Contains("origin.yaml: castore.cache_dir: not set"));
  CHECK_THAT(mistakes, Contains("write tls: {server: {disabled: true}}"));
}

TEST_CASE("unknown keys: an error with file, line and the nearest known key") {
  const auto [more, want] = GENERATE(table<std::string, std::string>({
      {"castor: {}\n", "origin.yaml:5: castor: unknown key; did you mean castore?"},
      {"server:\n  lame_duk: 5s\n",
       "origin.yaml:6: server.lame_duk: unknown key; did you mean server.lame_duck?"},
      {"castore:\n  upload_cleanup:\n    aggressive_ttl: 1h\n",
       "origin.yaml:7: castore.upload_cleanup.aggressive_ttl: unknown key; did you mean "
       "castore.upload_cleanup.aggressive_ttL?"},
      {"Verbose: on\n", "origin.yaml:5: Verbose: unknown key; did you mean verbose?"},
      {"backends:\n  - namespce: x\n",
       "origin.yaml:6: backends[].namespce: unknown key; did you mean backends[].namespace?"},
      {"castore.capacity: 5\n",
       "origin.yaml:5: castore.capacity: unknown key; sections are nested"},
      {"something_else_entirely: 5\n", "origin.yaml:5: something_else_entirely: unknown key"},
  }));
  INFO(more);
  CHECK_THAT(mistakes_of(load_with(more)), Contains(want));
}

TEST_CASE("unknown keys: all are reported at once, up to twenty") {
  std::string more;
  for (int i = 0; i < 30; ++i) more += "unknown_" + std::to_string(i) + ": 1\n";
  const auto mistakes = mistakes_of(load_with(more));

  CHECK_THAT(mistakes, Contains("origin.yaml:5: unknown_0"));
  CHECK_THAT(mistakes, Contains("origin.yaml:24: unknown_19"));
  CHECK_THAT(mistakes, Catch::EndsWith("\nand 10 more"));
}

TEST_CASE("unknown keys: with -lenient they are notices, and all else stays as strict") {
  const auto config = load_with("castor: {}\n", {"-lenient"});
  const auto wrong_type = load_with("castor: {}\nverbose: 1\n", {"-lenient"});
  const auto refused = load_with("admin: {listen: ':1'}\n", {"-lenient"});

  REQUIRE(mistakes_of(config) == "");
  CHECK_THAT(notices_of(config),
             Contains("origin.yaml:5: castor: unknown key; did you mean castore?"));
  CHECK_FALSE(wrong_type);
  CHECK_FALSE(refused);
}

TEST_CASE("wrong types: an error with file, line, key and what is expected") {
  const auto [more, want] = GENERATE(table<std::string, std::string>({
      {"verbose: 1\n", ":5: verbose: expected true or false, got 1"},
      {"verbose: 'true'\n", ":5: verbose: expected true or false, got the text true"},
      {"hashring: {max_replica: three}\n",
       ":5: hashring.max_replica: expected an integer, got three"},
      {"castore: {memory_cache: {max_size: 1MB}}\n",
       ":5: castore.memory_cache.max_size: expected an integer, got 1MB"},
      {"server: {lame_duck: 5 s}\n", ":5: server.lame_duck: expected a duration"},
      {"server: {lame_duck: 1d}\n", ":5: server.lame_duck: expected a duration"},
      {"store: {free_bytes_min: 1.5GB}\n", ":5: store.free_bytes_min: expected a size"},
      {"store: {free_bytes_min: 1Mb}\n", ":5: store.free_bytes_min: expected a size"},
      {"store: [a]\n", ":5: store: expected a map, got a list"},
      {"store: x\n", ":5: store: expected a map, got x"},
      {"store: {database_dir: [a]}\n", ":5: store.database_dir: expected text, got a list"},
      {"cluster: {static: a}\n", ":5: cluster.static: expected a list of texts, got a"},
      {"cluster:\n  static:\n    - a\n    - {b: c}\n",
       ":8: cluster.static: expected text, got a map"},
      {"backends: {namespace: x}\n", ":5: backends: expected a list of maps, got a map"},
      {"backends:\n  - x\n", ":6: backends: expected a map, got x"},
      {"auth: x\n", ":5: auth: expected a map, got x"},
      {"writeback: {sync_retry_backoff: {multiplier: fast}}\n",
       "multiplier: expected a number, got fast"},
      {"metainfogen:\n  piece_lengths:\n    2GB: 8.5MB\n",
       ":7: metainfogen.piece_lengths: expected a size as 512KB, 4MB or 1GB, got 8.5MB"},
      {"metainfogen: {piece_lengths: {2gig: 8MB}}\n",
       "expected a size as 512KB, 4MB or 1GB as key, got 2gig"},
      {"metainfogen: {piece_lengths: 4MB}\n",
       ":5: metainfogen.piece_lengths: expected a map of sizes"},
      {"extends: [a]\n", ":5: extends: expected text, got a list"},
  }));
  INFO(more);
  CHECK_THAT(mistakes_of(load_with(more)), Contains(want));
}

TEST_CASE("wrong types: one that a later file hides is still an error, as in Kraken") {
  const WrittenFiles files;
  files.write("base.yaml", std::string(kLeastFile) + "store: {uploads_max: many}\n");
  const auto leaf = files.write("leaf.yaml", "extends: base.yaml\nstore: {uploads_max: 5}\n");

  CHECK_THAT(mistakes_of(load({"-config", leaf})), Contains("base.yaml:5: store.uploads_max"));
}

TEST_CASE("wrong types: a file that is no map is refused") {
  CHECK_THAT(mistakes_of(load_text("- a\n")), Contains("origin.yaml:1: expected a map of keys"));
  CHECK_THAT(mistakes_of(load_text("just words\n")), Contains("expected a map of keys"));
}

TEST_CASE("values: what is out of range is refused by its key") {
  const auto [more, want] = GENERATE(table<std::string, std::string>({
      {"peer_id_factory: ip_hash\n",
       "peer_id_factory: expected one of addr_hash, random, got ip_hash"},
      {"store: {durability: Always}\n",
       ":5: store.durability: expected one of always, group, never"},
      {"store: {group_sync: sync}\n", ":5: store.group_sync: expected one of syncfs, fsync"},
      {"store: {uploads_max: 0}\n", ":5: store.uploads_max: expected 1 to"},
      {"store: {upload_bytes_max: 0}\n", ":5: store.upload_bytes_max: expected 1 to"},
      {"store: {free_bytes_min: 15EB}\n", ":5: store.free_bytes_min: expected 0 to"},
      {"server: {reactors: -1}\n", ":5: server.reactors: expected 0 to"},
      {"server: {lame_duck: -1s}\n", ":5: server.lame_duck: expected no negative time"},
      {"server: {idle_timeout: 5}\n", ":5: server.idle_timeout: expected at least 1ms"},
      {"server: {drain_limit: 1000000h}\n", ":5: server.drain_limit: expected at most a year"},
      {"server: {header_bytes_max: 10}\n", ":5: server.header_bytes_max: expected 1024 to"},
      {"server: {connections_max: 0}\n", ":5: server.connections_max: expected 1 to"},
      {"castore: {upload_cleanup: {tti: -1h}}\n",
       ":5: castore.upload_cleanup.tti: expected no negative"},
      {"log: {level: loud}\n", ":5: log.level: expected one of debug, info, warn, error"},
      {"zap: {level: Info}\n", ":5: zap.level: expected one of debug"},
      {"admin: {allow: [10.0.0.1/8]}\n", ":5: admin.allow: \"10.0.0.1/8\" has address bits beyond"},
      {"admin: {allow: [everyone]}\n", ":5: admin.allow: \"everyone\" is not an IP address block"},
      {"metainfogen: {piece_lengths: {1GB: 0}}\n",
       ":5: metainfogen.piece_lengths: a piece has 1 to"},
      {"metainfogen: {piece_lengths: {1GB: 15EB}}\n", ":5: metainfogen.piece_lengths: a piece has"},
      {"castore: {upload_dir: /kraken/x/../cache}\n",
       ":3: castore.cache_dir: castore.cache_dir and castore.upload_dir are the same"},
      {"store: {database_dir: /kraken/cache/}\n",
       ":5: store.database_dir: store.database_dir and castore.cache_dir are the same"},
      {"castore: {upload_dir: /kraken/orlop}\n",
       "castore.upload_dir: store.database_dir and castore.upload_dir are the same"},
  }));
  INFO(more);
  CHECK_THAT(mistakes_of(load_with(more)), Contains(want));
}

TEST_CASE("not built: what concerns security or durability stops the start") {
  const auto [more, want] = GENERATE(table<std::string, std::string>({
      {"tls: {server: {disabled: false}}\n",
       "origin.yaml:5: tls.server.disabled: TLS is not built yet"},
      {"tls:\n", "origin.yaml: tls.server.disabled: TLS is not built yet"},
      {"tls: {server: ~}\n", "origin.yaml:4: tls.server.disabled: TLS is not built yet"},
      {"backends:\n  - {namespace: .*, backend: {testfs: {addr: x}}}\n",
       "origin.yaml:5: backends: a backend is not built yet"},
      {"admin: {listen: 127.0.0.1:1}\n", "origin.yaml:5: admin.listen: "},
      {"cluster: {dns: origins:15002}\n",
       "origin.yaml:5: cluster.dns: a cluster of several origins is not built yet"},
      {"cluster: {static: [a:15002, b:15002]}\n",
       "origin.yaml:5: cluster.static: a cluster of several origins"},
  }));
  INFO(more);
  const auto config = load_with(more);

  REQUIRE_FALSE(config);
  CHECK(config.error().code() == Errc::invalid_argument);
  CHECK_THAT(mistakes_of(config), Contains(want));
}

TEST_CASE("not built: an empty setting, or one that a later file takes back, does not stop it") {
  CHECK(
      mistakes_of(load_with("backends: []\ncastore: {volumes: []}\ncluster: {dns: '', static: []}\n"
                            "admin: {listen: ''}\n")) == "");
  CHECK(mistakes_of(load_with("cluster: {dns: origins:15002}\n", {"-set", "cluster.dns="})) == "");
  CHECK(mistakes_of(load_with("backends: [{namespace: x}]\n", {"-set", "backends=[]"})) == "");
}

TEST_CASE("tls: without a file it is off, unless a key asks for it") {
  CHECK(mistakes_of(load({})) == "");
  CHECK(mistakes_of(load({"-set", "tls.client.disabled=true"})) == "");
  CHECK_THAT(mistakes_of(load({"-set", "tls.server.cert.path=/c.pem"})),
             Contains("TLS is not built"));
  CHECK_THAT(mistakes_of(load({"-set", "tls.server.disabled=no"})),
             Contains("-set: tls.server.disabled: TLS is not built"));
}

TEST_CASE("cluster: one member is fine if it is this node, by its hostname or its peer IP") {
  const std::vector<std::string> names = {"-blobserver-hostname", "me", "-peer-ip", "10.0.0.1",
                                          "-blobserver-port",     "80"};
  CHECK(mistakes_of(load_with("cluster: {static: ['me:80']}\n", names)) == "");
  CHECK(mistakes_of(load_with("cluster: {static: ['me:80', 'me:80']}\n", names)) == "");
  CHECK(mistakes_of(load_with("cluster: {static: ['10.0.0.1:80']}\n", names)) == "");
  CHECK_THAT(mistakes_of(load_with("cluster: {static: ['me:81']}\n", names)),
             Contains("origin.yaml:5: cluster.static: me:81 is not this node (me:80)"));
}

TEST_CASE("cluster: with a name still unknown the member is left for main to check") {
  auto config = load_with("cluster: {static: ['me:15002']}\n");

  REQUIRE(mistakes_of(config) == "");
  CHECK_FALSE(check_cluster(*config));
  config->blobserver_hostname = "me";
  CHECK(check_cluster(*config));
  config->blobserver_hostname = "you";
  REQUIRE_FALSE(check_cluster(*config));
  CHECK_THAT(check_cluster(*config).error().detail(), Contains("origin.yaml:5: cluster.static"));
}

TEST_CASE("notices: what is known and has no effect is told once, with its place and the reason") {
  const auto [more, want] = GENERATE(table<std::string, std::string>({
      {"castore: {capacity: 5}\n",
       "origin.yaml:5: castore.capacity: no effect: space is what limits"},
      {"castore: {skip_hash_verification: true}\n",
       "castore.skip_hash_verification: no effect: every blob is verified"},
      {"castore: {memory_cache: {enabled: on}}\n",
       "castore.memory_cache.enabled: no effect: the memory store"},
      {"castore: {upload_cleanup: {ttl: 1h}}\n", "castore.upload_cleanup.ttl: no effect: "},
      {"blobserver: {listener: {net: unix, addr: /s}}\n",
       "blobserver.listener.net: no effect (nor have 1 more below blobserver.listener): Orlop "
       "listens"},
      {"nginx: {name: x, root: on, cache_dir: /n}\n",
       "nginx.name: no effect (nor have 2 more below nginx): Orlop serves"},
      {"zap: {encoding: json, level: info}\n", "zap.encoding: no effect: only zap.level is used"},
      {"scheduler:\n  conn:\n    bandwidth: {token_size: 1}\n",
       "origin.yaml:7: scheduler.conn.bandwidth.token_size: no effect: only who downloads"},
      {"localdb: {source: /db}\n", "localdb.source: no effect: "},
      {"auth: {s3: {user: {}}}\n", "auth: no effect: there are no backends"},
      {"tls: {server: {cert: {path: /c}}}\n", "tls.server.cert.path: no effect: TLS is off"},
      {"blobserver: {commit_replication_wait: 1s}\n",
       "blobserver.commit_replication_wait: no effect"},
  }));
  INFO(more);
  const auto config = load_with(more);

  CHECK_THAT(notices_of(config), Contains(want));
  REQUIRE(config);
  CHECK(config->notices.size() == 1);
}

TEST_CASE("notices: a key at its zero value, or inside used sections, is not told") {
  CHECK(notices_of(load_with("castore: {skip_hash_verification: false, capacity: 0, volumes: []}\n"
                             "network_event: {enabled: off, log_path: ''}\nauth: {}\nnginx: {}\n"
                             "zap: {level: info}\nscheduler:\n")) == "");
}

TEST_CASE("notices: a key given twice is told") {
  CHECK_THAT(notices_of(load_with("store: {uploads_max: 1, uploads_max: 2}\n")),
             Contains("origin.yaml:5: store.uploads_max: given twice: the later one wins"));
}

}  // namespace
