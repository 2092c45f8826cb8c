#pragma once

#include <string>

#include "config/config.h"
#include "config/effective.h"
#include "config/key_check.h"
#include "config/node.h"

namespace orlop {

/// Fills the fields of `config` that have a key from the merged, checked tree, and reports what is
/// out of range, missing or not built yet. `config_file` is empty if there was none: only then do
/// embedded defaults stand for what Kraken requires, and is TLS off unless it is asked for. Records
/// in `effective` the values that hold.
void read_settings(const Node& merged, const std::string& config_file, Config& config,
                   Findings& findings, EffectiveSettings& effective);

}  // namespace orlop
