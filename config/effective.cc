#include "config/effective.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "config/keys.h"

namespace orlop {
namespace {

constexpr std::string_view kDefault = "default";
/// What config.cc calls the text that stands for a file when there is none.
constexpr std::string_view kEmbeddedSource = "defaults";

bool comes_from(const Node& node, const std::set<std::string>& sources) {
  if (sources.contains(node.source)) return true;
  return std::any_of(node.children.begin(), node.children.end(),
                     [&](const Node& child) { return comes_from(child, sources); });
}

/// A path may hold a line end; one line stays one.
std::string on_one_line(std::string value) {
  const bool plain = std::none_of(value.begin(), value.end(), [](char c) {
    return static_cast<unsigned char>(c) < ' ' || c == 0x7f;
  });
  return plain ? value : log_escaped(value);
}

/// Not a key of its own: a section, or what stands in a list of sections.
bool is_part(const KeyRow& row) {
  return row.kind == KeyKind::section || row.path.find("[]") != std::string::npos ||
         row.path == "extends";
}

}  // namespace

void EffectiveSettings::record_flag(std::string_view name, std::string value, std::string source) {
  flags_.push_back({.name = std::string(name),
                    .value = on_one_line(std::move(value)),
                    .source = source.empty() ? std::string(kDefault) : std::move(source)});
}

std::vector<EffectiveSetting> EffectiveSettings::finish(
    const Node& merged, const std::set<std::string>& secret_sources) const {
  std::vector<EffectiveSetting> all;
  for (const auto& row : key_table()) {
    if (is_part(row) || rule_of(row).rule != KeyRule::used) continue;
    const auto* node = find_path(merged, row.path);
    const auto recorded = values_.find(row.path);
    EffectiveSetting setting{.name = row.path, .value = {}, .source = std::string(kDefault)};
    if (recorded != values_.end()) {
      setting.value = on_one_line(recorded->second);
    } else if (node != nullptr) {
      setting.value = inline_text(*node);
    }
    if (node != nullptr && node->source != kEmbeddedSource) setting.source = node->where();
    if (node != nullptr && comes_from(*node, secret_sources)) setting.value = "(not shown)";
    all.push_back(std::move(setting));
  }
  std::sort(all.begin(), all.end(), [](const EffectiveSetting& one, const EffectiveSetting& other) {
    return one.name < other.name;
  });
  all.insert(all.end(), flags_.begin(), flags_.end());
  return all;
}

std::string inline_text(const Node& node) {
  if (node.kind == Node::Kind::null) return "~";
  if (node.kind == Node::Kind::scalar) return log_escaped(node.text);
  const bool map = node.kind == Node::Kind::map;
  std::string text(map ? "{" : "[");
  for (const auto& child : node.children) {
    if (text.size() > 1) text += ", ";
    if (map) text += log_escaped(child.key) + ": ";
    text += inline_text(child);
  }
  return text + (map ? "}" : "]");
}

const Node* find_path(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (node != nullptr && !path.empty()) {
    const auto dot = path.find('.');
    node = node->find(path.substr(0, dot));
    path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  }
  return node;
}

}  // namespace orlop
