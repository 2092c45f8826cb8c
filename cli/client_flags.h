#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "http/endpoint.h"

namespace orlop {

/// What the commands that talk to origins are told.
struct ClientFlags {
  std::vector<Endpoint> origins;           ///< In the order in which they are asked; never empty.
  std::string name_space = "default";      ///< -namespace
  std::string output;                      ///< -o; empty if it was not given.
  bool json = false;                       ///< -json
  bool help = false;                       ///< -help
  std::vector<std::string_view> operands;  ///< What is no flag.
};

/// What `-origin` is where neither it nor ORLOP_ORIGIN is given.
inline constexpr std::string_view kDefaultOrigin = "127.0.0.1:15002";

/// The part of a command's help that says what all of them understand.
inline constexpr std::string_view kClientFlagsHelp =
    "  -origin HOST:PORT[,…]  origins to ask, the first one first; or ORLOP_ORIGIN.\n"
    "                         Default: 127.0.0.1:15002\n"
    "  -json                  one JSON object a line on standard output\n";

/// Reads flags in Go's syntax (one or two dashes, `-name value` or `-name=value`), mixed with
/// operands; what follows "--" is operands only. `accepted` are the names of the flags that the
/// command has beside -origin, -json and -help, of "namespace" and "o". `origin_variable` is the
/// value of ORLOP_ORIGIN, or null. The views live as long as `args`.
Result<ClientFlags> parse_client_flags(std::span<const char* const> args,
                                       std::span<const std::string_view> accepted,
                                       const char* origin_variable);

}  // namespace orlop
