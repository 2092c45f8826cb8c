#include "server/check_config_command.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "server/configured.h"
#include "server/descriptor_budget.h"
#include "server/setup_trial.h"

namespace orlop {
namespace {

void print(const std::string& line) { std::printf("%s\n", line.c_str()); }

/// What only this machine knows is not known to config/, so it is filled in here.
void print_settings(const Config& config) {
  for (const auto& setting : config.effective) {
    auto value = setting.value;
    auto source = setting.source;
    if (value.empty() && setting.name == "-blobserver-hostname") {
      value = config.blobserver_hostname;
      source = "this machine";
    } else if (value.empty() && setting.name == "-peer-ip") {
      value = config.peer_ip;
      source = "this machine";
    }
    if (value.empty()) value = "(none)";
    std::string line = setting.name;
    line.append(" = ").append(value).append(" (").append(source).append(")");
    print(line);
  }
}

std::string_view word(TrialResult::Kind kind) {
  switch (kind) {
    case TrialResult::Kind::ok: return "ok";
    case TrialResult::Kind::warning: return "warning";
    case TrialResult::Kind::failure: return "failure";
  }
  ORLOP_UNREACHABLE();
}

TrialResult try_descriptors(const Config& config) {
  const auto budget =
      share_descriptors(raise_descriptor_limit(), config.connections_max, config.uploads_max);
  const bool enough =
      budget.connections_max == config.connections_max && budget.uploads_max == config.uploads_max;
  return {.kind = enough ? TrialResult::Kind::ok : TrialResult::Kind::warning,
          .text = "open files: " + std::to_string(budget.descriptors_max) + " are allowed, so " +
                  std::to_string(budget.connections_max) + " connections and " +
                  std::to_string(budget.uploads_max) + " uploads"};
}

std::vector<TrialResult> try_all(const Config& config) {
  PosixDisk disk;
  auto results = FolderTrial(disk).run({.key = "castore.upload_dir", .path = config.upload_dir},
                                       {.key = "castore.cache_dir", .path = config.cache_dir},
                                       {.key = "store.database_dir", .path = config.database_dir},
                                       config.free_bytes_min);
  results.push_back(try_address(config.listen_address, config.port));
  results.push_back(try_descriptors(config));
  return results;
}

}  // namespace

int check_config_command(std::span<const char* const> args) {
  auto config = configured(args);
  if (!config) return fail(config.error(), kExitUsage);
  if (config->help) {
    std::fputs(usage().c_str(), stdout);
    return kExitDone;
  }
  if (auto named = complete_names(*config); !named) return fail(named.error(), kExitUsage);
  if (auto lengths = piece_lengths(*config); !lengths) return fail(lengths.error(), kExitUsage);

  print_settings(*config);
  for (const auto& notice : config->notices) print("notice: " + notice);
  bool usable = true;
  for (const auto& result : try_all(*config)) {
    print(std::string(word(result.kind)) + ": " + result.text);
    if (result.kind == TrialResult::Kind::failure) usable = false;
  }
  return usable ? kExitDone : kExitUsage;
}

}  // namespace orlop
