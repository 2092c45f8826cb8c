#include "config/merge.h"

#include <algorithm>
#include <string>

#include "config/keys.h"
#include "config/size.h"

namespace orlop {
namespace {

/// "2GB" and "2048MB" are one key of a size map.
bool same_key(const std::string& a, const std::string& b, KeyKind parent_kind) {
  if (a == b) return true;
  if (parent_kind != KeyKind::size_map) return false;
  const auto size = parse_size(a);
  return size && size == parse_size(b);
}

/// Puts a copy of `value` in the place of the child of that key.
void replace_child(Node& map, const Node& value, KeyKind map_kind) {
  const auto same = [&](const Node& child) { return same_key(child.key, value.key, map_kind); };
  const auto found = std::find_if(map.children.begin(), map.children.end(), same);
  if (found != map.children.end()) {
    *found = value;
    return;
  }
  map.children.push_back(value);
}

void remove_child(Node& map, const Node& value, KeyKind map_kind) {
  std::erase_if(map.children,
                [&](const Node& child) { return same_key(child.key, value.key, map_kind); });
}

/// The child map of that key, made empty if there is none.
Node& child_map(Node& map, const Node& like) {
  for (auto& child : map.children) {
    if (child.key == like.key) return child;
  }
  Node made = like;
  made.children.clear();
  map.children.push_back(std::move(made));
  return map.children.back();
}

/// For the maps whose keys are the operator's own.
void merge_values(Node& merged, const Node& layer, KeyKind kind) {
  for (const auto& value : layer.children) {
    if (value.kind == Node::Kind::null) {
      remove_child(merged, value, kind);
    } else {
      replace_child(merged, value, kind);
    }
  }
}

void merge_section(Node& merged, const Node& layer, const std::string& path) {
  for (const auto& value : layer.children) {
    const auto* row = find_key_in(path, value.key);
    if (row == nullptr) continue;
    if (value.kind == Node::Kind::null) {
      remove_child(merged, value, KeyKind::section);
      continue;
    }
    const bool is_map = row->kind == KeyKind::section || row->kind == KeyKind::free_map ||
                        row->kind == KeyKind::size_map;
    if (!is_map) {
      replace_child(merged, value, KeyKind::section);
    } else if (value.kind == Node::Kind::map) {
      auto& below = child_map(merged, value);
      if (row->kind == KeyKind::section) {
        merge_section(below, value, row->path);
      } else {
        merge_values(below, value, row->kind);
      }
    }
  }
}

}  // namespace

void merge_layer(Node& merged, const Node& layer) {
  merged.kind = Node::Kind::map;
  merge_section(merged, layer, "");
}

}  // namespace orlop
