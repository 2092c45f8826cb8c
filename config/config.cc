#include "config/config.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include "config/command_line.h"
#include "config/key_check.h"
#include "config/layers.h"
#include "config/merge.h"
#include "config/settings.h"
#include "config/yaml.h"

namespace orlop {
namespace {

/// What stands for a file when there is none. With -config these are the operator's to say, as in
/// Kraken, which has no defaults for them.
constexpr std::string_view kEmbedded = R"(
peer_id_factory: addr_hash
metainfogen: {piece_lengths: {0: 4MB}}
castore: {upload_dir: orlop-data/upload, cache_dir: orlop-data/cache}
store: {database_dir: orlop-data/db}
)";

/// What the flags, or the variables, say of keys. Assignments last: they are the most particular.
Result<std::vector<Node>> layers_of(const CommandLine& line) {
  std::vector<Node> layers;
  if (const auto& data = line.data) {
    const std::filesystem::path folder(data->text);
    layers.push_back(text_layer("castore.upload_dir", folder / "upload", data->source));
    layers.push_back(text_layer("castore.cache_dir", folder / "cache", data->source));
    layers.push_back(text_layer("store.database_dir", folder / "db", data->source));
  }
  if (const auto& level = line.log_level) {
    layers.push_back(text_layer("log.level", level->text, level->source));
  }
  if (const auto& durability = line.durability) {
    layers.push_back(text_layer("store.durability", durability->text, durability->source));
  }
  for (const auto& assignment : line.set) {
    auto layer = assignment_layer(assignment.text, assignment.source);
    if (!layer) return std::move(layer).error();
    layers.push_back(*std::move(layer));
  }
  return layers;
}

/// The two sources of flags, and which of them counts.
class Flags {
 public:
  Flags(CommandLine variables, CommandLine flags)
      : variables_(std::move(variables)), flags_(std::move(flags)) {}

  const std::optional<Given>& get(std::optional<Given> CommandLine::*flag) const {
    return flags_.*flag ? flags_.*flag : variables_.*flag;
  }

  void text(std::optional<Given> CommandLine::*flag, std::string& target) const {
    if (const auto& given = get(flag)) target = given->text;
  }

  void address(std::optional<Given> CommandLine::*flag, std::string& target,
               Findings& findings) const {
    const auto& given = get(flag);
    if (!given) return;
    target = given->text;
    if (is_ip_address(target)) return;
    findings.mistakes.push_back(given->source + ": expected an IP address, got " +
                                log_escaped(target));
  }

  void port(std::optional<Given> CommandLine::*flag, unsigned least, std::uint16_t& target,
            Findings& findings) const {
    const auto& given = get(flag);
    if (!given) return;
    const auto& text = given->text;
    const auto* end = text.data() + text.size();
    std::uint16_t value = 0;
    const auto [stopped, failed] = std::from_chars(text.data(), end, value);
    if (failed == std::errc() && stopped == end && value >= least) {
      target = value;
      return;
    }
    findings.mistakes.push_back(given->source + ": expected a port of " + std::to_string(least) +
                                " to 65535, got " + log_escaped(text));
  }

  bool lenient(Findings& findings) const {
    const auto& given = get(&CommandLine::lenient);
    if (!given) return false;
    if (given->text == "true" || given->text == "1") return true;
    if (given->text != "false" && given->text != "0") {
      findings.mistakes.push_back(given->source + ": expected true or false, got " +
                                  log_escaped(given->text));
    }
    return false;
  }

  /// All layers, the weakest first. Names the files whose values are nobody's to see.
  Result<std::vector<Node>> layers(std::set<std::string>& secret_sources) const {
    std::vector<Node> all;
    const auto append = [&all](std::vector<Node> more) {
      std::move(more.begin(), more.end(), std::back_inserter(all));
    };
    if (!get(&CommandLine::config)) {
      auto embedded = parse_yaml(kEmbedded, "defaults");
      if (!embedded) return std::move(embedded).error();
      all.push_back(*std::move(embedded));
    }
    for (const auto flag : {&CommandLine::config, &CommandLine::secrets}) {
      const auto& file = get(flag);
      if (!file) continue;
      auto read = load_layers(file->text);
      if (!read) return std::move(read).error().within(file->source);
      if (flag == &CommandLine::secrets) {
        for (const auto& layer : *read) secret_sources.insert(layer.source);
      }
      append(*std::move(read));
    }
    for (const auto* line : {&variables_, &flags_}) {
      auto said = layers_of(*line);
      if (!said) return std::move(said).error();
      append(*std::move(said));
    }
    return all;
  }

 private:
  CommandLine variables_;
  CommandLine flags_;
};

void read_flags(const Flags& flags, Config& config, Findings& findings) {
  // Who names a port or a file wants to be reached by others, as Kraken's origin is.
  const bool reachable =
      flags.get(&CommandLine::config) || flags.get(&CommandLine::blobserver_port);
  if (reachable) config.listen_address = "0.0.0.0";
  flags.address(&CommandLine::listen, config.listen_address, findings);
  flags.address(&CommandLine::peer_ip, config.peer_ip, findings);
  flags.port(&CommandLine::blobserver_port, 0, config.port, findings);
  flags.port(&CommandLine::peer_port, 1, config.peer_port, findings);
  config.seeds = flags.get(&CommandLine::peer_port).has_value();
  flags.text(&CommandLine::blobserver_hostname, config.blobserver_hostname);
  flags.text(&CommandLine::zone, config.zone);
  flags.text(&CommandLine::cluster, config.cluster);
  if (const auto& profile = flags.get(&CommandLine::mutex_profile_fraction)) {
    findings.notices.push_back(profile->source + ": no effect: it is about Go's mutexes");
  }
}

/// Those that are no keys. A name that only the system knows is empty yet.
void record_flags(const Flags& flags, const Config& config, EffectiveSettings& effective) {
  const auto record = [&](std::string_view name, std::optional<Given> CommandLine::*flag,
                          std::string value) {
    const auto& given = flags.get(flag);
    effective.record_flag(name, std::move(value), given ? given->source : std::string());
  };
  record("-listen", &CommandLine::listen, config.listen_address);
  record("-blobserver-port", &CommandLine::blobserver_port, std::to_string(config.port));
  record("-blobserver-hostname", &CommandLine::blobserver_hostname, config.blobserver_hostname);
  record("-peer-ip", &CommandLine::peer_ip, config.peer_ip);
  record("-peer-port", &CommandLine::peer_port, std::to_string(config.peer_port));
  record("-zone", &CommandLine::zone, config.zone);
  record("-cluster", &CommandLine::cluster, config.cluster);
}

Error to_error(const std::vector<std::string>& mistakes) {
  constexpr std::size_t kLinesMax = 20;
  std::string text;
  for (std::size_t i = 0; i < mistakes.size() && i < kLinesMax; ++i) {
    text += (i == 0 ? "" : "\n") + mistakes[i];
  }
  if (mistakes.size() > kLinesMax) {
    text += "\nand " + std::to_string(mistakes.size() - kLinesMax) + " more";
  }
  return Error(Errc::invalid_argument, text);
}

std::string label(const std::string& host, std::uint16_t port) {
  if (host.empty()) return {};
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

}  // namespace

std::string Config::ring_label() const {
  return label(blobserver_hostname.empty() ? peer_ip : blobserver_hostname, port);
}

Result<> check_cluster(const Config& config) {
  for (const auto& member : config.cluster_members) {
    if (member == label(config.blobserver_hostname, config.port)) continue;
    if (member == label(config.peer_ip, config.port)) continue;
    return Error(Errc::invalid_argument,
                 config.cluster_source + ": cluster.static: " + log_escaped(member) +
                     " is not this node (" + config.ring_label() +
                     "), and a cluster of several origins is not built yet");
  }
  return {};
}

Result<Config> load_config(std::span<const char* const> args, const Environment& environment) {
  Findings findings;
  auto variables = read_environment(environment, findings.notices);
  auto line = parse_command_line(args);
  if (!line) return std::move(line).error();
  Config config;
  config.help = line->help;
  if (config.help) return config;

  const Flags flags(std::move(variables), *std::move(line));
  std::set<std::string> secret_sources;
  const auto layers = flags.layers(secret_sources);
  if (!layers) return Error(layers.error());

  Node merged;
  const bool lenient = flags.lenient(findings);
  for (const auto& layer : *layers) {
    check_layer(layer, lenient, findings);
    merge_layer(merged, layer);
  }
  review(merged, findings);
  const auto& file = flags.get(&CommandLine::config);
  EffectiveSettings effective;
  read_settings(merged, file ? file->text : std::string(), config, findings, effective);
  read_flags(flags, config, findings);
  record_flags(flags, config, effective);

  // With one name still to be found by `main`, a member may turn out to be this node.
  const bool can_tell = config.cluster_members.size() == 1 && !config.blobserver_hostname.empty() &&
                        !config.peer_ip.empty();
  if (const auto alone = check_cluster(config); !alone && can_tell) {
    findings.mistakes.push_back(alone.error().detail());
  }
  if (!findings.mistakes.empty()) return to_error(findings.mistakes);
  config.notices = std::move(findings.notices);
  config.effective = effective.finish(merged, secret_sources);
  return config;
}

}  // namespace orlop
