#include "config/keys.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "config/nearest.h"

namespace orlop {
namespace {

using K = KeyKind;
using R = KeyRule;
using Table = std::vector<KeyRow>;

struct Child {
  std::string_view name;
  KeyKind kind;
  KeyRule rule = KeyRule::inherit;
  std::string_view note = {};
};

/// Rows for children that have no rule of their own in most blocks.
void add(Table& table, std::string_view parent, std::initializer_list<Child> children) {
  const std::string prefix = parent.empty() ? "" : std::string(parent) + ".";
  for (const auto& child : children) {
    table.push_back({prefix + std::string(child.name), child.kind, child.rule, child.note});
  }
}

/// Section 6.5 of the reference: the block of a logger of its own.
void add_log_block(Table& table, const std::string& path) {
  add(table, "", {{path, K::section}});
  add(table, path,
      {{"level", K::text},
       {"disable", K::boolean},
       {"service_name", K::text},
       {"path", K::text},
       {"encoding", K::text},
       {"timeEncoder", K::text}});
}

/// Section 6.6. A caller may use what limits the way out, and gives its own rows for it.
void add_bandwidth_block(Table& table, const std::string& path) {
  add(table, "", {{path, K::section}});
  add(table, path, {{"ingress_bits_per_sec", K::integer}, {"token_size", K::integer}});
}

/// Section 2.7. `disabled` and `tti` are not here: one of the two blocks uses them.
void add_cleanup_block(Table& table, const std::string& path) {
  add(table, path,
      {{"interval", K::duration},
       {"ttl", K::duration},
       {"aggressive_threshold", K::integer},
       {"aggressive_ttL", K::duration},  // The capital L is the original's spelling.
       {"aggressive_lower_threshold", K::integer}});
}

void add_tls_side(Table& table, const std::string& path) {
  add(table, "", {{path, K::section}});
  add(table, path,
      {{"cert", K::section},
       {"cert.path", K::text},
       {"key", K::section},
       {"key.path", K::text},
       {"passphrase", K::section},
       {"passphrase.path", K::text}});
}

void add_process_keys(Table& table) {
  add(table, "",
      {{"extends", K::text, R::used},
       {"verbose", K::boolean, R::ignored, "it has no effect in Kraken either"},
       {"zap", K::section, R::ignored, "only zap.level is used; the log goes to standard error"},
       {"peer_id_factory", K::text, R::used},
       {"network_event", K::section, R::ignored, "peer exchange is not built yet"},
       {"metrics", K::section, R::ignored, "metrics are not pushed by this version"},
       {"localdb", K::section, R::ignored, "tasks are kept in store.database_dir"},
       {"nginx", K::section, R::ignored, "Orlop serves the port itself, without nginx"},
       {"log", K::section}});
  add(table, "log", {{"level", K::text, R::used}});
  add(table, "zap",
      {{"level", K::text, R::used},
       {"development", K::boolean},
       {"disableCaller", K::boolean},
       {"disableStacktrace", K::boolean},
       {"sampling", K::section},
       {"sampling.initial", K::integer},
       {"sampling.thereafter", K::integer},
       {"encoding", K::text},
       {"encoderConfig", K::section},
       {"outputPaths", K::texts},
       {"errorOutputPaths", K::texts},
       {"initialFields", K::free_map}});
  add(table, "zap.encoderConfig",
      {{"messageKey", K::text},
       {"levelKey", K::text},
       {"timeKey", K::text},
       {"nameKey", K::text},
       {"callerKey", K::text},
       {"stacktraceKey", K::text},
       {"lineEnding", K::text},
       {"levelEncoder", K::text},
       {"timeEncoder", K::text},
       {"durationEncoder", K::text},
       {"callerEncoder", K::text},
       {"nameEncoder", K::text}});
  add(table, "network_event", {{"enabled", K::boolean}, {"log_path", K::text}});
  add(table, "metrics",
      {{"backend", K::text},
       {"statsd", K::section},
       {"statsd.host_port", K::text},
       {"statsd.prefix", K::text},
       {"m3", K::section},
       {"m3.host_port", K::text},
       {"m3.service", K::text},
       {"m3.env", K::text}});
  add(table, "localdb", {{"source", K::text}});
  add(table, "nginx",
      {{"binary", K::text},
       {"root", K::boolean},
       {"name", K::text},
       {"template_path", K::text},
       {"cache_dir", K::text},
       {"log_dir", K::text},
       {"stdout_log_path", K::text},
       {"access_log_path", K::text},
       {"error_log_path", K::text},
       {"proxy_timeout", K::text},
       {"listen_backlog", K::integer}});
}

void add_cluster_keys(Table& table) {
  constexpr std::string_view kAlone = "there are no other members yet";
  add(table, "",
      {{"cluster", K::section, R::ignored, kAlone},
       {"hashring", K::section, R::ignored, kAlone},
       {"healthcheck", K::section, R::ignored, kAlone},
       {"blobserver", K::section, R::ignored, kAlone},
       {"tls", K::section, R::ignored, "TLS is off, because tls.server.disabled is true"}});
  add(table, "cluster",
      {{"dns", K::text, R::refused, "a cluster of several origins"},
       {"static", K::texts, R::used},  // Config::cluster_members says how.
       {"ttl", K::duration}});
  add(table, "hashring",
      {{"max_replica", K::integer},
       {"refresh_interval", K::duration},
       {"membership_wait_timeout", K::duration},
       {"membership_wait_interval", K::duration}});
  add(table, "healthcheck",
      {{"fails", K::integer}, {"passes", K::integer}, {"timeout", K::duration}});
  add(table, "blobserver",
      {{"listener", K::section, R::ignored, "Orlop listens on -blobserver-port itself"},
       {"listener.net", K::text},
       {"listener.addr", K::text},
       {"duplicate_write_back_stagger", K::duration},
       {"commit_replication_wait", K::duration}});
  add(table, "tls", {{"name", K::text}, {"cas", K::sections}, {"cas[].path", K::text}});
  add_tls_side(table, "tls.server");
  add_tls_side(table, "tls.client");
  add(table, "tls",
      {{"server.disabled", K::boolean, R::used}, {"client.disabled", K::boolean, R::used}});
}

void add_store_keys(Table& table) {
  add(table, "", {{"castore", K::section}, {"metainfogen", K::section}, {"store", K::section}});
  add(table, "castore",
      {{"upload_dir", K::text, R::used},
       {"cache_dir", K::text, R::used},
       {"volumes", K::sections, R::used},
       {"volumes[].location", K::text, R::used},
       {"volumes[].weight", K::integer, R::ignored,
        "shards stay on the volumes where they are, and no new ones are placed"},
       {"capacity", K::integer, R::ignored,
        "space is what limits the store, not a count of entries"},
       {"read_part_size", K::integer, R::ignored, "buffers are sized by the program"},
       {"write_part_size", K::integer, R::ignored, "buffers are sized by the program"},
       {"skip_hash_verification", K::boolean, R::ignored, "every blob is verified"},
       {"upload_cleanup", K::section, R::ignored, "uploads are dropped by tti alone"},
       {"upload_cleanup.disabled", K::boolean, R::used},
       {"upload_cleanup.tti", K::duration, R::used},
       {"cache_cleanup", K::section, R::used},
       {"cache_cleanup.disabled", K::boolean},
       {"cache_cleanup.tti", K::duration},
       {"cache_cleanup.evict_unbacked", K::boolean},
       {"cache_cleanup.aggressive_ttl", K::duration},  // As everybody writes it; ours.
       {"memory_cache", K::section, R::ignored, "the memory store is not built yet"}});
  add_cleanup_block(table, "castore.upload_cleanup");
  add_cleanup_block(table, "castore.cache_cleanup");
  add(table, "castore.memory_cache",
      {{"enabled", K::boolean},
       {"max_size", K::integer},
       {"drain_workers", K::integer},
       {"drain_max_retries", K::integer},
       {"ttl", K::duration},
       {"ttl_interval", K::duration}});
  add(table, "metainfogen", {{"piece_lengths", K::size_map, R::used}});
  add(table, "store",
      {{"database_dir", K::text, R::used},
       {"durability", K::text, R::used},
       {"group_sync", K::text, R::used},
       {"free_bytes_min", K::size, R::used},
       {"upload_bytes_max", K::size, R::used},
       {"metainfo_cache_bytes_max", K::size, R::used},
       {"uploads_max", K::integer, R::used},
       {"index_cpu_percent", K::integer, R::used}});
}

void add_peer_keys(Table& table) {
  add(table, "", {{"scheduler", K::section, R::ignored, "only who downloads needs it"}});
  add(table, "scheduler",
      {{"seeder_tti", K::duration},
       {"leecher_tti", K::duration},
       {"conn_tti", K::duration, R::used},
       {"conn_ttl", K::duration, R::used},
       {"connections_max", K::integer, R::used},
       {"preemption_interval", K::duration},
       {"emit_stats_interval", K::duration},
       {"probe_timeout", K::duration},
       {"disable_preemption", K::boolean},
       {"connstate", K::section},
       {"connstate.max_open_conn", K::integer, R::used},
       {"connstate.max_mutual_conn", K::integer, R::used},
       {"connstate.disable_blacklist", K::boolean},
       {"connstate.blacklist_duration", K::duration},
       {"conn", K::section},
       {"conn.handshake_timeout", K::duration, R::used},
       {"conn.sender_buffer_size", K::integer},
       {"conn.receiver_buffer_size", K::integer},
       {"dispatch", K::section},
       {"dispatch.piece_request_min_timeout", K::duration},
       {"dispatch.piece_request_timeout_per_mb", K::duration},
       {"dispatch.piece_request_policy", K::text},
       {"dispatch.pipeline_limit", K::integer},
       {"dispatch.origin_pipeline_limit", K::integer},
       {"dispatch.endgame_threshold", K::integer},
       {"dispatch.disable_endgame", K::boolean}});
  add_bandwidth_block(table, "scheduler.conn.bandwidth");
  add(table, "scheduler.conn.bandwidth",
      {{"enable", K::boolean, R::used}, {"egress_bits_per_sec", K::integer, R::used}});
  add_log_block(table, "scheduler.log");
  add_log_block(table, "scheduler.torrentlog");
}

void add_backend_keys(Table& table) {
  constexpr std::string_view kNoBackends = "there are no backends yet";
  add(table, "",
      {{"backends", K::sections, R::refused, "a backend"},
       {"backends[].namespace", K::text},
       {"backends[].backend", K::free_map},
       {"backends[].must_ready", K::boolean},
       {"backend_manager", K::section, R::ignored, kNoBackends},
       {"auth", K::free_map, R::ignored, kNoBackends},
       {"blobrefresh", K::section, R::ignored, kNoBackends},
       {"blobrefresh.size_limit", K::size},
       {"writeback", K::section, R::ignored, kNoBackends}});
  add_bandwidth_block(table, "backends[].bandwidth");
  add(table, "backends[].bandwidth", {{"egress_bits_per_sec", K::integer}, {"enable", K::boolean}});
  add_log_block(table, "backend_manager.log");
  add(table, "writeback",
      {{"incoming_buffer", K::integer},
       {"retry_buffer", K::integer},
       {"num_incoming_workers", K::integer},
       {"num_retry_workers", K::integer},
       {"max_task_throughput", K::duration},
       {"retry_interval", K::duration},
       {"poll_retries_interval", K::duration},
       {"workqueue_metrics_emit_interval", K::duration},
       {"testing", K::boolean},
       {"sync_retry_backoff", K::section},
       {"sync_retry_backoff.enabled", K::boolean},
       {"sync_retry_backoff.initial_interval", K::duration},
       {"sync_retry_backoff.randomization_factor", K::number},
       {"sync_retry_backoff.multiplier", K::number},
       {"sync_retry_backoff.max_interval", K::duration},
       {"sync_retry_backoff.max_retries", K::integer}});
}

void add_server_keys(Table& table) {
  add(table, "",
      {{"admin", K::section},
       {"admin.allow", K::texts, R::used},
       {"admin.listen", K::text, R::refused, "a listener of its own for operators"},
       {"server", K::section},
       {"scrub", K::section}});
  add(table, "scrub",
      {{"period", K::duration, R::used}, {"bytes_per_second_max", K::size, R::used}});
  add(table, "server",
      {{"reactors", K::integer, R::used},
       {"lame_duck", K::duration, R::used},
       {"drain_limit", K::duration, R::used},
       {"header_bytes_max", K::size, R::used},
       {"idle_timeout", K::duration, R::used},
       {"header_timeout", K::duration, R::used},
       {"progress_timeout", K::duration, R::used},
       {"connections_max", K::integer, R::used},
       {"reads_max", K::integer, R::used},
       {"writes_max", K::integer, R::used},
       {"operations_max", K::integer, R::used}});
}

/// "a.b[].c" -> "a.b[]" -> "a.b" -> "a" -> "".
std::string_view parent_path(std::string_view path) {
  if (path.ends_with("[]")) return path.substr(0, path.size() - 2);
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
}

std::string_view last_name(std::string_view path) {
  const auto dot = path.rfind('.');
  return dot == std::string_view::npos ? path : path.substr(dot + 1);
}

/// A third of the text may be wrong; with more, a suggestion is a guess.
std::size_t distance_max(std::string_view text) {
  return std::max<std::size_t>(2, text.size() / 3);
}

}  // namespace

const std::vector<KeyRow>& key_table() {
  static const Table table = [] {
    Table made;
    add_process_keys(made);
    add_cluster_keys(made);
    add_store_keys(made);
    add_peer_keys(made);
    add_backend_keys(made);
    add_server_keys(made);
    return made;
  }();
  return table;
}

const KeyRow* find_key(std::string_view path) {
  for (const auto& row : key_table()) {
    if (row.path == path) return &row;
  }
  return nullptr;
}

const KeyRow* find_key_in(std::string_view parent, std::string_view name) {
  if (name.find_first_of(".[") != std::string_view::npos) return nullptr;
  return find_key(parent.empty() ? std::string(name)
                                 : std::string(parent) + "." + std::string(name));
}

const KeyRow& rule_of(const KeyRow& row) {
  for (std::string_view path = row.path; !path.empty(); path = parent_path(path)) {
    const auto* found = find_key(path);
    if (found != nullptr && found->rule != KeyRule::inherit) return *found;
  }
  return row;  // A section of its own rules: "castore", "store", "admin", …
}

std::string nearest_key(std::string_view path) {
  std::vector<std::string> siblings;
  std::vector<std::string> namesakes;
  std::vector<std::string> all;
  for (const auto& row : key_table()) {
    if (parent_path(row.path) == parent_path(path)) siblings.push_back(row.path);
    if (last_name(row.path) == last_name(path)) namesakes.push_back(row.path);
    all.push_back(row.path);
  }
  // A slip of the finger first, then the right name in the wrong section, then anything similar.
  auto found = nearest(path, siblings, distance_max(last_name(path)));
  if (found.empty()) found = nearest(path, namesakes, path.size() + 64);
  if (found.empty()) found = nearest(path, all, distance_max(path));
  return found;
}

}  // namespace orlop
