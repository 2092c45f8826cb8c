#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "config/node.h"

namespace orlop {

/// Reads one YAML document into a tree. Anchors, aliases and "<<" are resolved: as in yaml.v2,
/// "<<" stands for the entries of the map it names, in its place.
///
/// `source` goes into the nodes and errors. Fails with `invalid_argument` on malformed YAML, a
/// second document, a key that is not a scalar, nesting deeper than 32, and more than 10000 nodes
/// after aliases are resolved (so that a few lines cannot ask for all memory). Empty text is null.
Result<Node> parse_yaml(std::string_view text, const std::string& source);

}  // namespace orlop
