#include "config/command_line.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "config/nearest.h"

namespace orlop {
namespace {

constexpr std::string_view kVariablePrefix = "ORLOP_";

struct Flag {
  std::string_view name;
  std::optional<Given> CommandLine::*value;  // Null for those that parse_argument() knows itself.
  std::string_view placeholder;              // Empty: a switch, which takes its value only by "=".
  std::string_view help;
};

constexpr std::array<Flag, 16> kFlags = {{
    {"config", &CommandLine::config, "FILE", "Kraken's YAML, with extends. Default: none"},
    {"secrets", &CommandLine::secrets, "FILE", "more YAML, laid over -config"},
    {"data", &CommandLine::data, "DIR",
     "DIR/upload, DIR/cache, DIR/db. Default: ./orlop-data without -config"},
    {"listen", &CommandLine::listen, "ADDRESS",
     "an IP address. Default: 127.0.0.1; 0.0.0.0 with -config or -blobserver-port"},
    {"blobserver-port", &CommandLine::blobserver_port, "PORT",
     "HTTP; 0 takes any free one. Default: 15002"},
    {"blobserver-hostname", &CommandLine::blobserver_hostname, "NAME",
     "this node's name in the ring. Default: the system's"},
    {"peer-ip", &CommandLine::peer_ip, "ADDRESS", "announced to peers. Default: the local one"},
    {"peer-port", &CommandLine::peer_port, "PORT",
     "serve peers here, and announce it. Default: announce 15001"},
    {"zone", &CommandLine::zone, "NAME", "told to peers"},
    {"cluster", &CommandLine::cluster, "NAME", "told to peers"},
    {"durability", &CommandLine::durability, "always|group|never",
     "store.durability. Default: group"},
    {"log-level", &CommandLine::log_level, "debug|info|warn|error", "log.level. Default: info"},
    {"set", nullptr, "KEY=VALUE", "any key of the YAML by its dotted path; may be repeated"},
    {"lenient", &CommandLine::lenient, "", "unknown keys are notices, not errors"},
    {"mutex-profile-fraction", &CommandLine::mutex_profile_fraction, "N",
     "accepted for Kraken's sake; no effect"},
    {"help", nullptr, "", "print this"},
}};

const Flag* find_flag(std::string_view name) {
  if (name == "h") name = "help";
  for (const auto& flag : kFlags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

std::string variable_of(const Flag& flag) {
  std::string name(kVariablePrefix);
  for (const char c : flag.name) {
    name += c == '-' ? '_' : static_cast<char>(c - 'a' + 'A');
  }
  return name;
}

const Flag* find_flag_of(const std::string& variable) {
  for (const auto& flag : kFlags) {
    if (flag.name != "help" && variable_of(flag) == variable) return &flag;
  }
  return nullptr;
}

std::vector<std::string> known_variables() {
  std::vector<std::string> names;
  names.reserve(std::size(kFlags));
  for (const auto& flag : kFlags) names.push_back(variable_of(flag));
  return names;
}

Error unknown_flag(std::string_view name) {
  std::vector<std::string> names;
  names.reserve(std::size(kFlags));
  for (const auto& flag : kFlags) names.emplace_back(flag.name);
  const auto suggestion = nearest(name, names, std::max<std::size_t>(2, name.size() / 3));
  auto text = "-" + log_escaped(name) + ": unknown flag; ";
  text += suggestion.empty() ? "-help lists all" : "did you mean -" + suggestion + "?";
  return Error(Errc::invalid_argument, text);
}

void store(CommandLine& line, const Flag& flag, Given given) {
  if (flag.name == "set") {
    line.set.push_back(std::move(given));
  } else if (flag.name == "help") {
    line.help = true;
  } else {
    line.*flag.value = std::move(given);
  }
}

/// The name in "-name", "--name", "-name=value"; empty if `arg` is no flag.
std::string_view flag_name(std::string_view arg) {
  if (!arg.starts_with('-')) return {};
  arg.remove_prefix(arg.starts_with("--") ? 2 : 1);
  return arg.substr(0, arg.find('='));
}

}  // namespace

Result<CommandLine> parse_command_line(std::span<const char* const> args) {
  CommandLine line;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    const auto name = flag_name(arg);
    if (name.empty()) {
      return Error(Errc::invalid_argument, log_escaped(arg) + ": expected a flag; -help lists all");
    }
    const auto* flag = find_flag(name);
    if (flag == nullptr) return unknown_flag(name);

    Given given{"true", "-" + std::string(flag->name)};
    if (const auto equals = arg.find('='); equals != std::string_view::npos) {
      given.text = arg.substr(equals + 1);
    } else if (!flag->placeholder.empty()) {
      if (i + 1 == args.size()) {
        return Error(Errc::invalid_argument, given.source + ": needs a value: " + given.source +
                                                 " " + std::string(flag->placeholder));
      }
      given.text = args[++i];
    }
    store(line, *flag, std::move(given));
  }
  return line;
}

CommandLine read_environment(const Environment& environment, std::vector<std::string>& notices) {
  CommandLine line;
  for (const auto& [variable, value] : environment) {
    if (!variable.starts_with(kVariablePrefix) || value.empty()) continue;
    if (const auto* flag = find_flag_of(variable)) {
      store(line, *flag, {value, variable});
      continue;
    }
    auto notice = log_escaped(variable) + ": unknown variable, no effect";
    const auto suggestion = nearest(variable, known_variables(), 2);
    if (!suggestion.empty()) notice += "; did you mean " + suggestion + "?";
    notices.push_back(std::move(notice));
  }
  return line;
}

std::string usage() {
  std::string text =
      "usage: orlop serve [flags]\n\n"
      "A flag takes one or two dashes, and its value as the next word or after \"=\". Each is also "
      "an\n"
      "environment variable: -peer-port is ORLOP_PEER_PORT. Flags win over variables, variables "
      "over\n"
      "files, files over defaults. docs/configuration.md lists the keys of the YAML.\n\n";
  for (const auto& flag : kFlags) {
    auto head = "  -" + std::string(flag.name);
    if (!flag.placeholder.empty()) head += " " + std::string(flag.placeholder);
    text += head + "\n        " + std::string(flag.help) + "\n";
  }
  return text;
}

}  // namespace orlop
