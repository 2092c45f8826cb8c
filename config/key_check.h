#pragma once

#include <string>
#include <vector>

#include "config/node.h"

namespace orlop {

/// What there is to say about a configuration: a mistake stops the start, a notice is logged. Each
/// is one line that begins with its place. Collected, so that one start shows all of them.
struct Findings {
  std::vector<std::string> mistakes;
  std::vector<std::string> notices;

  /// "origin.yaml:3: castore.cache_dir: what".
  void mistake(const Node& node, const std::string& path, const std::string& what);
  void notice(const Node& node, const std::string& path, const std::string& what);
};

/// Checks one file against the key table: unknown keys (notices if `lenient`), keys given twice,
/// and values of the wrong type. A layer is checked before it is merged: a mistake that another
/// file hides is still one, as in the original.
void check_layer(const Node& layer, bool lenient, Findings& findings);

/// Says what of the merged configuration is refused or has no effect (KeyRule). A key that is set
/// to its zero value is as good as absent.
void review(const Node& merged, Findings& findings);

}  // namespace orlop
