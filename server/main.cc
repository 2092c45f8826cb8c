// The subcommands, from one table.

#include <algorithm>
#include <array>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "cli/blob_commands.h"
#include "cli/get_command.h"
#include "cli/health_command.h"
#include "cli/ls_command.h"
#include "cli/put_command.h"
#include "config/config.h"
#include "server/check_command.h"
#include "server/check_config_command.h"
#include "server/configured.h"
#include "server/export_sidecars_command.h"
#include "server/serve_command.h"

namespace orlop {
namespace {

int help_command(std::span<const char* const> args);
int version_command(std::span<const char* const> args);

struct Command {
  std::string_view name;
  std::string_view help;
  int (*run)(std::span<const char* const> args);  ///< Gets what follows the name.
};

constexpr std::array kCommands = {
    Command{"serve", "serve blobs; also what `orlop` with flags only does", serve_command},
    Command{"check-config", "say what `serve` with the same flags would do, and try the disk",
            check_config_command},
    Command{"check", "verify a data folder that no daemon uses", check_command},
    Command{"export-sidecars", "write Kraken's sidecars from a stopped node's database",
            export_sidecars_command},
    Command{"put", "send files to an origin", put_command},
    Command{"get", "receive a blob", get_command},
    Command{"stat", "say how large a blob is and where", stat_command},
    Command{"rm", "remove a blob", rm_command},
    Command{"ls", "list an origin's blobs", ls_command},
    Command{"locations", "say which origins own a blob", locations_command},
    Command{"health", "say whether an origin is ready", health_command},
    Command{"help", "print this", help_command},
    Command{"version", "print the version", version_command},
};

int help_command(std::span<const char* const>) {
  std::puts("usage: orlop [command] [flags]\n");
  for (const auto& command : kCommands) {
    std::printf("  %-16s%s\n", std::string(command.name).c_str(),
                std::string(command.help).c_str());
  }
  std::printf("\n%s", usage().c_str());
  return kExitDone;
}

int version_command(std::span<const char* const>) {
  std::puts("orlop " ORLOP_VERSION);
  return kExitDone;
}

int unknown_command(std::string_view name) {
  std::string names;
  for (const auto& command : kCommands) {
    names += (names.empty() ? "" : ", ") + std::string(command.name);
  }
  std::fprintf(stderr, "orlop: unknown command \"%s\"; there are: %s\n", log_escaped(name).c_str(),
               names.c_str());
  return kExitUsage;
}

/// `orlop` with flags only, or under Kraken's name, serves: a unit file that started
/// kraken-origin needs no other change than the path.
int run(std::span<const char* const> args) {
  const std::string_view first = args.empty() ? "" : args.front();
  if (first == "--version" || first == "-version") return version_command({});
  if (first.empty() || first.starts_with('-')) return serve_command(args);
  const auto* command = std::find_if(kCommands.begin(), kCommands.end(),
                                     [&](const Command& one) { return one.name == first; });
  return command == kCommands.end() ? unknown_command(first) : command->run(args.subspan(1));
}

}  // namespace
}  // namespace orlop

int main(int argc, char** argv) {
  const std::vector<const char*> all(argv, argv + argc);
  const std::span<const char* const> args(all);
  return orlop::run(args.empty() ? args : args.subspan(1));
}
