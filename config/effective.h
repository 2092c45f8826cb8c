#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/node.h"

namespace orlop {

/// One thing that holds, and who said it.
struct EffectiveSetting {
  std::string name;    ///< A key by its dotted path, or a flag with its dash: "-listen".
  std::string value;   ///< As it could be written in a file; in place of a secret, "(not shown)".
  std::string source;  ///< "origin.yaml:12", "-data", "ORLOP_LISTEN", or "default".
};

/// Collects what holds, while the configuration is read.
class EffectiveSettings {
 public:
  /// The value that holds under a key of the table. The last word for one key counts.
  void record(std::string_view path, std::string value) {
    values_[std::string(path)] = std::move(value);
  }
  /// A flag that is no key. An empty `source` is a default.
  void record_flag(std::string_view name, std::string value, std::string source);

  /// All keys of the table that are used, in the order of their names, then the flags. What nobody
  /// recorded stands as it was written. A value that came, even in part, from a file in
  /// `secret_sources` is not shown.
  std::vector<EffectiveSetting> finish(const Node& merged,
                                       const std::set<std::string>& secret_sources) const;

 private:
  std::map<std::string, std::string> values_;
  std::vector<EffectiveSetting> flags_;
};

/// A value on one line, as YAML that means the same: "[10.0.0.0/8]", "{0: 4MB, 2GB: 8MB}".
std::string inline_text(const Node& node);

/// The node at a dotted path below `root`, or null.
const Node* find_path(const Node& root, std::string_view path);

}  // namespace orlop
