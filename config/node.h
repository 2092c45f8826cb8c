#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace orlop {

/// One value of a configuration, with the place it was written. A tree: a value that owns its
/// children. What it means is decided by its key (config/keys.h); here a scalar is only text.
struct Node {
  enum class Kind : std::uint8_t { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string key;             ///< Its name in the map above it; empty in a list.
  std::string text;            ///< Of a scalar.
  bool quoted = false;         ///< A scalar in quotes is text, never a number or a boolean.
  std::vector<Node> children;  ///< Of a list or map, as written: a key may occur twice.
  std::string source;          ///< The file, flag or variable that it comes from.
  int line = 0;                ///< From 1; 0 if the source has no lines.

  /// The last child of that name, or null.
  const Node* find(std::string_view name) const {
    for (auto child = children.rbegin(); child != children.rend(); ++child) {
      if (child->key == name) return &*child;
    }
    return nullptr;
  }

  /// "origin.yaml:12", "-data".
  std::string where() const { return line > 0 ? source + ":" + std::to_string(line) : source; }
};

}  // namespace orlop
