#pragma once

#include <span>

#include "base/random.h"
#include "base/result.h"
#include "cli/exit.h"
#include "config/config.h"
#include "origin/origin.h"
#include "peer/swarm.h"
#include "server/server.h"

namespace orlop {

// What the commands share: from the words after the subcommand to the option structs of the rooms.
// Like main.cc and the commands, this file belongs to the composition root and knows `config`.

/// load_config() of these flags and of this process's ORLOP_… variables. Blocks.
Result<Config> configured(std::span<const char* const> args);

/// Fills in what only the running system knows: its host name and the address it would send from.
/// Then fails with `invalid_argument` if the configured cluster is not this node alone.
Result<> complete_names(Config& config);

OriginOptions origin_options(const Config& config);
ServerOptions server_options(const Config& config);
SeederOptions seeder_options(const Config& config, PeerId self);
Result<PieceLengths> piece_lengths(const Config& config);
/// Pre: `complete_names` succeeded, and the port is the real one.
NodeIdentity node_identity(const Config& config, Random& random);

}  // namespace orlop
