#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/node.h"

namespace orlop {

/// The file and those it extends, the farthest ancestor first: the order in which they are merged.
///
/// `extends` names one file, relative to the folder of the file that says so. Fails with
/// `invalid_argument` on a cycle, a chain of more than 16 files, a file of more than 1 MiB and bad
/// YAML; as the system did if a file cannot be read. Blocks.
Result<std::vector<Node>> load_layers(const std::filesystem::path& file);

/// The layer of "castore.cache_dir=/srv/blobs". The value is YAML; an empty one is null, which
/// resets the key. `source` is the flag or variable it came from.
Result<Node> assignment_layer(std::string_view assignment, const std::string& source);

/// The same with a value that is text, whatever it looks like.
Node text_layer(std::string_view path, const std::string& text, const std::string& source);

}  // namespace orlop
