#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "config/config.h"

namespace orlop {

/// A text and who said it: "-peer-port" or "ORLOP_PEER_PORT".
struct Given {
  std::string text;
  std::string source;
};

/// The flags as they were given, or the environment variables that stand for them. Not yet checked
/// beyond their names.
struct CommandLine {
  std::optional<Given> config;
  std::optional<Given> secrets;
  std::optional<Given> data;
  std::optional<Given> listen;
  std::optional<Given> blobserver_hostname;
  std::optional<Given> blobserver_port;
  std::optional<Given> peer_ip;
  std::optional<Given> peer_port;
  std::optional<Given> zone;
  std::optional<Given> cluster;
  std::optional<Given> durability;
  std::optional<Given> log_level;
  std::optional<Given> mutex_profile_fraction;
  std::optional<Given> lenient;  ///< A boolean flag: "true" if it was given without a value.
  std::vector<Given> set;        ///< Each "key=value", in the order given.
  bool help = false;
};

/// Reads Go's flag syntax: one or two dashes, `-name value` or `-name=value`; the last of equal
/// flags wins. Fails with `invalid_argument` on an unknown flag (naming the nearest), a missing
/// value, and on a word that is no flag.
Result<CommandLine> parse_command_line(std::span<const char* const> args);

/// The same from ORLOP_CONFIG, ORLOP_PEER_PORT, …; ORLOP_SET holds one assignment. A variable that
/// is no flag's gets a notice and no more: Kubernetes makes some for a service named "orlop".
CommandLine read_environment(const Environment& environment, std::vector<std::string>& notices);

}  // namespace orlop
