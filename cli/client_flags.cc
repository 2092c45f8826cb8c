#include "cli/client_flags.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/log.h"

namespace orlop {
namespace {

Error misused(const std::string& text) { return Error(Errc::invalid_argument, text); }

Result<std::vector<Endpoint>> parse_origins(std::string_view text) {
  std::vector<Endpoint> origins;
  for (;;) {
    const auto comma = text.find(',');
    auto origin = parse_endpoint(text.substr(0, comma));
    if (!origin) return std::move(origin).error().within("-origin");
    origins.push_back(*std::move(origin));
    if (comma == std::string_view::npos) return origins;
    text.remove_prefix(comma + 1);
  }
}

/// A flag's name without its dashes, and what stands behind its '='.
struct Flag {
  std::string_view name;
  std::optional<std::string_view> value;
};

Flag split(std::string_view arg) {
  arg.remove_prefix(arg.starts_with("--") ? 2 : 1);
  const auto equals = arg.find('=');
  if (equals == std::string_view::npos) return {.name = arg, .value = std::nullopt};
  return {.name = arg.substr(0, equals), .value = arg.substr(equals + 1)};
}

bool is_switch(std::string_view name) { return name == "json" || name == "help" || name == "h"; }

}  // namespace

Result<ClientFlags> parse_client_flags(std::span<const char* const> args,
                                       std::span<const std::string_view> accepted,
                                       const char* origin_variable) {
  ClientFlags flags;
  std::string_view origins = origin_variable != nullptr ? origin_variable : kDefaultOrigin;
  bool operands_only = false;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const std::string_view arg = args[i];
    // A dash alone is an operand: the standard output, to those who take it for a file.
    if (operands_only || !arg.starts_with('-') || arg == "-") {
      flags.operands.push_back(arg);
      continue;
    }
    if (arg == "--") {
      operands_only = true;
      continue;
    }
    auto [name, value] = split(arg);
    if (is_switch(name)) {
      if (value) return misused("-" + std::string(name) + " takes no value");
      (name == "json" ? flags.json : flags.help) = true;
      continue;
    }
    const bool known =
        name == "origin" || std::find(accepted.begin(), accepted.end(), name) != accepted.end();
    if (!known) return misused("unknown flag " + log_escaped(arg) + "; see -help");
    if (!value && i + 1 < args.size()) value = args[++i];
    if (!value) return misused("-" + std::string(name) + ": needs a value");
    if (name == "origin") origins = *value;
    if (name == "namespace") flags.name_space = *value;
    if (name == "o") flags.output = *value;
  }
  if (flags.name_space.empty()) return misused("-namespace: needs a name");
  auto parsed = parse_origins(origins);
  if (!parsed) return std::move(parsed).error();
  flags.origins = *std::move(parsed);
  return flags;
}

}  // namespace orlop
