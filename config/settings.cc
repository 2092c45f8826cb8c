#include "config/settings.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "config/duration.h"
#include "config/scalars.h"
#include "config/size.h"

namespace orlop {
namespace {

using std::chrono::nanoseconds;

constexpr nanoseconds kForEver = std::chrono::hours(24 * 365 * 100);
constexpr nanoseconds kTimeMax = std::chrono::hours(24 * 365);

template <class Value>
using Choice = std::pair<std::string_view, Value>;

/// The merged tree, read by dotted path. What is absent leaves its target as it is.
class Settings {
 public:
  Settings(const Node& root, Findings& findings, EffectiveSettings& effective)
      : root_(root), findings_(findings), effective_(effective) {}

  const Node* find(std::string_view path) const { return find_path(root_, path); }

  /// What holds, where it is not simply what was read.
  void record(std::string_view path, std::string value) const {
    effective_.record(path, std::move(value));
  }

  void mistake(const std::string& path, const std::string& what) {
    findings_.mistake(*find(path), path, what);
  }

  std::string text(std::string_view path) const {
    const auto* node = find(path);
    return node == nullptr ? std::string() : node->text;
  }

  bool boolean(std::string_view path) const {
    const auto* node = find(path);
    const bool value = node != nullptr && as_boolean(*node) == true;
    record(path, value ? "true" : "false");
    return value;
  }

  template <class Number>
  void integer(const std::string& path, std::int64_t least, std::int64_t most, Number& target) {
    const auto* node = find(path);
    const auto value = node == nullptr ? std::nullopt : as_integer(*node);
    record(path, std::to_string(value.value_or(static_cast<std::int64_t>(target))));
    if (!value) return;
    if (*value < least || *value > most) {
      return mistake(path, "expected " + std::to_string(least) + " to " + std::to_string(most));
    }
    target = static_cast<Number>(*value);
  }

  template <class Number>
  void size(const std::string& path, std::uint64_t least, std::uint64_t most, Number& target) {
    const auto* node = find(path);
    const auto value = node == nullptr ? std::nullopt : as_size(*node);
    const std::optional<std::uint64_t> held = value ? value : target;
    record(path, held ? size_text(*held) : "(the program decides)");
    if (!value) return;
    if (*value < least || *value > most) {
      return mistake(
          path, "expected " + std::to_string(least) + " to " + std::to_string(most) + " bytes");
    }
    target = static_cast<Number>(*value);
  }

  void duration(const std::string& path, nanoseconds least, nanoseconds& target) {
    const auto* node = find(path);
    const auto value = node == nullptr ? std::nullopt : as_duration(*node);
    record(path, duration_text(std::max(nanoseconds(0), value.value_or(target))));
    if (!value) return;
    if (*value < least) {
      return mistake(path, least > nanoseconds(0)
                               ? "expected at least " +
                                     std::to_string(least / std::chrono::milliseconds(1)) + "ms"
                               : "expected no negative time");
    }
    if (*value > kTimeMax) return mistake(path, "expected at most a year, 8760h");
    target = *value;
  }

  template <class Value, std::size_t count>
  void choice(const std::string& path, const std::array<Choice<Value>, count>& choices,
              Value& target) {
    const auto* node = find(path);
    std::string names;
    for (const auto& [name, value] : choices) {
      if (node == nullptr) {
        if (value != target) continue;
        return record(path, std::string(name));
      }
      if (name == node->text) {
        target = value;
        return;
      }
      names += (names.empty() ? "" : ", ") + std::string(name);
    }
    if (node == nullptr) return;
    mistake(path, "expected one of " + names + ", got " + log_escaped(node->text));
  }

 private:
  const Node& root_;
  Findings& findings_;
  EffectiveSettings& effective_;
};

std::filesystem::path folder(const std::string& text) {
  if (text.empty()) return {};
  auto normal = std::filesystem::path(text).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();  // Without the last slash.
}

void read_folders(Settings& settings, const std::string& config_file, Config& config,
                  Findings& findings) {
  config.upload_dir = folder(settings.text("castore.upload_dir"));
  config.cache_dir = folder(settings.text("castore.cache_dir"));
  config.database_dir = folder(settings.text("store.database_dir"));
  for (const auto* path : {"castore.upload_dir", "castore.cache_dir"}) {
    if (!settings.text(path).empty()) continue;
    findings.mistakes.push_back(config_file + ": " + path +
                                ": not set; write the folder, or give -data DIR");
  }
  if (config.cache_dir.empty() || config.upload_dir.empty()) return;
  if (config.database_dir.empty()) config.database_dir = config.cache_dir.parent_path() / "orlop";
  settings.record("store.database_dir", config.database_dir.string());

  const std::array<std::pair<const char*, const std::filesystem::path*>, 3> folders = {
      {{"castore.upload_dir", &config.upload_dir},
       {"castore.cache_dir", &config.cache_dir},
       {"store.database_dir", &config.database_dir}}};
  for (std::size_t i = 1; i < folders.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (*folders[i].second != *folders[j].second) continue;
      const auto* named =
          settings.find(folders[i].first) != nullptr ? folders[i].first : folders[j].first;
      settings.mistake(named, std::string(folders[i].first) + " and " + folders[j].first +
                                  " are the same folder");
    }
  }
}

void read_volumes(const Settings& settings, Config& config, Findings& findings) {
  const auto* volumes = settings.find("castore.volumes");
  if (volumes == nullptr) return;
  for (const auto& item : volumes->children) {
    const auto* location = item.find("location");
    const auto path = location == nullptr ? std::filesystem::path() : folder(location->text);
    if (path.empty()) {
      findings.mistake(item, "castore.volumes", "a volume needs a location, a folder");
      continue;
    }
    const auto known = std::find(config.volumes.begin(), config.volumes.end(), path);
    if (known != config.volumes.end()) {
      findings.mistake(item, "castore.volumes[].location", "the same folder twice");
      continue;
    }
    config.volumes.push_back(path);
  }
}

void read_pieces(Settings& settings, const std::string& config_file, Config& config,
                 Findings& findings) {
  const auto* lengths = settings.find("metainfogen.piece_lengths");
  if (lengths == nullptr || lengths->children.empty()) {
    findings.mistakes.push_back(config_file +
                                ": metainfogen.piece_lengths: required, there is no default with "
                                "-config; Kraken's own is {0: 4MB}");
    return;
  }
  constexpr auto kLengthMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  config.piece_lengths.clear();
  for (const auto& entry : lengths->children) {
    const auto least_blob = parse_size(entry.key);
    const auto length = as_size(entry);
    if (!least_blob || !length) continue;  // check_layer() has said it.
    if (*length == 0 || *length > kLengthMax || *least_blob > kLengthMax) {
      findings.mistake(entry, "metainfogen.piece_lengths", "a piece has 1 to 2^63-1 bytes");
    }
    config.piece_lengths[*least_blob] = *length;
  }
}

void read_peer_id(Settings& settings, const std::string& config_file, Config& config,
                  Findings& findings) {
  if (settings.find("peer_id_factory") == nullptr) {
    findings.mistakes.push_back(config_file +
                                ": peer_id_factory: required, there is no default with -config; "
                                "write addr_hash or random");
    return;
  }
  using Factory = Config::PeerIdFactory;
  constexpr std::array<Choice<Factory>, 2> kFactories = {
      {{"addr_hash", Factory::addr_hash}, {"random", Factory::random}}};
  settings.choice("peer_id_factory", kFactories, config.peer_id_factory);
}

void read_store(Settings& settings, Config& config) {
  using Durability = Config::Durability;
  constexpr std::array<Choice<Durability>, 3> kDurabilities = {
      {{"always", Durability::always}, {"group", Durability::group}, {"never", Durability::never}}};
  settings.choice("store.durability", kDurabilities, config.durability);

  using GroupSync = Config::GroupSync;
  constexpr std::array<Choice<GroupSync>, 2> kSyncs = {
      {{"syncfs", GroupSync::syncfs}, {"fsync", GroupSync::fsync}}};
  settings.choice("store.group_sync", kSyncs, config.group_sync);

  constexpr auto kBytesMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  settings.size("store.free_bytes_min", 0, kBytesMax, config.free_bytes_min);
  settings.size("store.upload_bytes_max", 1, kBytesMax, config.upload_bytes_max);
  settings.size("store.metainfo_cache_bytes_max", 0, std::uint64_t{64} << 30,
                config.metainfo_cache_bytes_max);
  settings.integer("store.uploads_max", 1, 10'000'000, config.uploads_max);
  settings.integer("store.index_cpu_percent", 1, 100, config.index_cpu_percent);

  // As in Kraken, zero means the default: an upload always gets old some day.
  const auto tti = config.upload_tti;
  settings.duration("castore.upload_cleanup.tti", nanoseconds(0), config.upload_tti);
  if (config.upload_tti == nanoseconds(0)) config.upload_tti = tti;
  settings.record("castore.upload_cleanup.tti", duration_text(config.upload_tti));
  if (settings.boolean("castore.upload_cleanup.disabled")) config.upload_tti = kForEver;
}

/// castore.cache_cleanup, with Kraken's meaning and defaults: kraken-formats-and-store.md, 2.7.
/// Zero means the default there, but for `ttl` and the two thresholds, where it means off.
void read_cache_cleanup(Settings& settings, const std::string& config_file, Config& config) {
  const std::string block = "castore.cache_cleanup.";
  config.evict_unbacked = settings.boolean(block + "evict_unbacked");
  Config::CacheCleanUp clean_up;
  auto& [interval, tti, ttl, threshold, lower, aggressive_ttl] = clean_up;
  const auto time = [&](const char* key, nanoseconds otherwise) {
    nanoseconds value(0);
    settings.duration(block + key, nanoseconds(0), value);
    return value > nanoseconds(0) ? value : otherwise;
  };
  interval = time("interval", interval);
  const bool given = settings.find(block + "tti") != nullptr;
  if (given || !config_file.empty()) tti = time("tti", std::chrono::hours(6));
  if (const auto age = time("ttl", nanoseconds(0)); age > nanoseconds(0)) ttl = age;
  aggressive_ttl = time("aggressive_ttL", time("aggressive_ttl", aggressive_ttl));
  settings.integer(block + "aggressive_threshold", 0, 100, threshold);
  settings.integer(block + "aggressive_lower_threshold", 0, 100, lower);
  if (threshold > 0 && lower > threshold) {
    settings.mistake(block + "aggressive_lower_threshold",
                     "expected at most aggressive_threshold, " + std::to_string(threshold));
  }
  if (!settings.boolean(block + "disabled")) config.cache_cleanup = clean_up;
}

void read_scrub(Settings& settings, Config& config) {
  settings.duration("scrub.period", nanoseconds(0), config.scrub_period);
  if (config.scrub_period > nanoseconds(0) && config.scrub_period < std::chrono::seconds(1)) {
    settings.mistake("scrub.period", "expected 0, which is never, or at least 1s");
  }
  settings.size("scrub.bytes_per_second_max", 1, std::uint64_t{1} << 40,
                config.scrub_bytes_per_second_max);
}

void read_server(Settings& settings, Config& config) {
  constexpr auto kMoment = std::chrono::milliseconds(1);
  settings.integer("server.reactors", 0, 1024, config.reactors);
  settings.duration("server.lame_duck", nanoseconds(0), config.lame_duck);
  settings.duration("server.drain_limit", nanoseconds(0), config.drain_limit);
  settings.size("server.header_bytes_max", 1024, 16 << 20, config.header_bytes_max);
  settings.duration("server.idle_timeout", kMoment, config.idle_timeout);
  settings.duration("server.header_timeout", kMoment, config.header_timeout);
  settings.duration("server.progress_timeout", kMoment, config.progress_timeout);
  settings.integer("server.connections_max", 1, 10'000'000, config.connections_max);
  settings.integer("server.reads_max", 1, 10'000'000, config.reads_max);
  settings.integer("server.writes_max", 1, 10'000'000, config.writes_max);
  settings.integer("server.operations_max", 1, 10'000'000, config.operations_max);
}

/// What a seeder needs of `scheduler`, with Kraken's defaults: zero means the default, as there.
void read_seeding(Settings& settings, Config& config) {
  auto& seeding = config.seeding;
  const auto time = [&](const char* key, nanoseconds& target) {
    nanoseconds value(0);
    settings.duration(std::string("scheduler.") + key, nanoseconds(0), value);
    if (value > nanoseconds(0)) target = value;
  };
  const auto count = [&](const char* key, std::size_t otherwise) {
    std::size_t value = 0;
    settings.integer(std::string("scheduler.") + key, 0, 10'000'000, value);
    return value > 0 ? value : otherwise;
  };
  time("conn_tti", seeding.conn_tti);
  time("conn_ttl", seeding.conn_ttl);
  time("conn.handshake_timeout", seeding.handshake_timeout);
  seeding.max_open_conn = count("connstate.max_open_conn", seeding.max_open_conn);
  seeding.max_mutual_conn = count("connstate.max_mutual_conn", seeding.max_open_conn);
  seeding.connections_max = count("connections_max", seeding.connections_max);
  std::uint64_t egress_bits = 0;
  settings.integer("scheduler.conn.bandwidth.egress_bits_per_sec", 0, std::int64_t{1} << 50,
                   egress_bits);
  if (!settings.boolean("scheduler.conn.bandwidth.enable")) return;
  constexpr std::uint64_t kDefaultBits = std::uint64_t{200} * 8 << 20;
  seeding.egress_bytes_per_second =
      std::max<std::uint64_t>((egress_bits > 0 ? egress_bits : kDefaultBits) / 8, 1);
}

void read_admin(const Settings& settings, Config& config, Findings& findings) {
  const auto* blocks = settings.find("admin.allow");
  if (blocks == nullptr) return;
  for (const auto& item : blocks->children) {
    const auto block = Cidr::parse(item.text);
    if (block) {
      config.admin_allow.push_back(*block);
    } else {
      findings.mistake(item, "admin.allow", block.error().detail());
    }
  }
}

void read_log_level(Settings& settings, Config& config) {
  constexpr std::array<Choice<LogLevel>, 4> kLevels = {{{"debug", LogLevel::debug},
                                                        {"info", LogLevel::info},
                                                        {"warn", LogLevel::warn},
                                                        {"error", LogLevel::error}}};
  // Zap's own: either case, and three levels above error that we do not have.
  constexpr std::array<Choice<LogLevel>, 14> kZapLevels = {{{"debug", LogLevel::debug},
                                                            {"info", LogLevel::info},
                                                            {"warn", LogLevel::warn},
                                                            {"error", LogLevel::error},
                                                            {"dpanic", LogLevel::error},
                                                            {"panic", LogLevel::error},
                                                            {"fatal", LogLevel::error},
                                                            {"DEBUG", LogLevel::debug},
                                                            {"INFO", LogLevel::info},
                                                            {"WARN", LogLevel::warn},
                                                            {"ERROR", LogLevel::error},
                                                            {"DPANIC", LogLevel::error},
                                                            {"PANIC", LogLevel::error},
                                                            {"FATAL", LogLevel::error}}};
  settings.choice("zap.level", kZapLevels, config.log_level);
  settings.choice("log.level", kLevels, config.log_level);
}

/// The nearest place to a key that is absent: the section that lacks it, else the file.
std::string place_of(const Settings& settings, std::string_view path,
                     const std::string& config_file) {
  while (!path.empty()) {
    if (const auto* node = settings.find(path)) return node->where();
    const auto dot = path.rfind('.');
    path = dot == std::string_view::npos ? std::string_view() : path.substr(0, dot);
  }
  return config_file;
}

/// A Kraken file without `tls:` means TLS on, so to serve plain HTTP would be a silent downgrade.
void refuse_tls(const Settings& settings, const std::string& config_file, Findings& findings) {
  if (settings.boolean("tls.server.disabled")) return;
  const auto* server = settings.find("tls.server");
  const bool asked_for = server != nullptr && !server->children.empty();
  if (config_file.empty() && !asked_for) return;
  findings.mistakes.push_back(
      place_of(settings, "tls.server.disabled", config_file) +
      ": tls.server.disabled: TLS is not built yet, and without this key Kraken means TLS on; to "
      "serve plain HTTP write tls: {server: {disabled: true}}");
}

void read_members(const Settings& settings, Config& config, Findings& findings) {
  const auto* members = settings.find("cluster.static");
  if (members == nullptr) return;
  config.cluster_source = members->where();
  for (const auto& member : members->children) config.cluster_members.push_back(member.text);
  std::sort(config.cluster_members.begin(), config.cluster_members.end());
  const auto repeated = std::unique(config.cluster_members.begin(), config.cluster_members.end());
  config.cluster_members.erase(repeated, config.cluster_members.end());
  if (config.cluster_members.size() < 2) return;
  findings.mistake(*members, "cluster.static",
                   "a cluster of several origins is not built yet, and blobs would have one copy "
                   "where they should have more: name this node alone");
}

}  // namespace

void read_settings(const Node& merged, const std::string& config_file, Config& config,
                   Findings& findings, EffectiveSettings& effective) {
  Settings settings(merged, findings, effective);
  read_folders(settings, config_file, config, findings);
  read_volumes(settings, config, findings);
  read_pieces(settings, config_file, config, findings);
  read_peer_id(settings, config_file, config, findings);
  read_store(settings, config);
  read_cache_cleanup(settings, config_file, config);
  read_scrub(settings, config);
  read_server(settings, config);
  read_seeding(settings, config);
  read_admin(settings, config, findings);
  read_log_level(settings, config);
  read_members(settings, config, findings);
  refuse_tls(settings, config_file, findings);
}

}  // namespace orlop
