#include "config/key_check.h"

#include <algorithm>
#include <set>
#include <string_view>

#include "base/log.h"
#include "config/keys.h"
#include "config/scalars.h"
#include "config/size.h"

namespace orlop {
namespace {

std::string joined(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

std::string_view expected(KeyKind kind) {
  switch (kind) {
    case KeyKind::section:
    case KeyKind::free_map: return "a map";
    case KeyKind::sections: return "a list of maps";
    case KeyKind::boolean: return "true or false";
    case KeyKind::integer: return "an integer";
    case KeyKind::number: return "a number";
    case KeyKind::text: return "text";
    case KeyKind::texts: return "a list of texts";
    case KeyKind::duration: return "a duration as 90s, 1h30m or 250ms";
    case KeyKind::size: return "a size as 512KB, 4MB or 1GB";
    case KeyKind::size_map: return "a map of sizes as {0: 4MB, 2GB: 8MB}";
  }
  return "";
}

std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null: return "nothing";
    case Node::Kind::scalar: return (node.quoted ? "the text " : "") + log_escaped(node.text);
    case Node::Kind::list: return "a list";
    case Node::Kind::map: return "a map";
  }
  return "";
}

/// Whether the value alone, without what lies below it, is of its kind. Null is: it resets a key.
bool fits(const Node& node, KeyKind kind) {
  if (node.kind == Node::Kind::null) return true;
  switch (kind) {
    case KeyKind::section:
    case KeyKind::free_map:
    case KeyKind::size_map: return node.kind == Node::Kind::map;
    case KeyKind::sections:
    case KeyKind::texts: return node.kind == Node::Kind::list;
    case KeyKind::boolean: return as_boolean(node).has_value();
    case KeyKind::integer: return as_integer(node).has_value();
    case KeyKind::number: return as_number(node).has_value();
    case KeyKind::text: return node.kind == Node::Kind::scalar;
    case KeyKind::duration: return as_duration(node).has_value();
    case KeyKind::size: return as_size(node).has_value();
  }
  return false;
}

class LayerCheck {
 public:
  LayerCheck(bool lenient, Findings& findings) : lenient_(lenient), findings_(findings) {}

  void check_map(const Node& map, const std::string& path) {
    std::set<std::string> seen;
    for (const auto& child : map.children) {
      const auto child_path = joined(path, child.key);
      const auto* row = find_key_in(path, child.key);
      if (row == nullptr) {
        say_unknown(child, child_path);
        continue;
      }
      check_value(child, *row);
      // Two maps of one name are merged, so nothing is lost; of two values one is.
      const bool repeated = !seen.insert(child.key).second;
      if (repeated && child.kind != Node::Kind::map) {
        findings_.notice(child, child_path, "given twice: the later one wins");
      }
    }
  }

 private:
  void check_value(const Node& node, const KeyRow& row) {
    if (!check_kind(node, row.path, row.kind)) return;
    for (const auto& child : node.children) {
      if (row.kind == KeyKind::texts) check_kind(child, row.path, KeyKind::text);
      if (row.kind == KeyKind::size_map) check_size_entry(child, row.path);
      if (row.kind != KeyKind::sections) continue;
      if (check_kind(child, row.path, KeyKind::section)) check_map(child, row.path + "[]");
    }
    if (row.kind == KeyKind::section) check_map(node, row.path);
  }

  bool check_kind(const Node& node, const std::string& path, KeyKind kind) {
    const bool fine = fits(node, kind);
    if (!fine) {
      findings_.mistake(node, path,
                        "expected " + std::string(expected(kind)) + ", got " + shown(node));
    }
    return fine;
  }

  void check_size_entry(const Node& entry, const std::string& path) {
    check_kind(entry, path, KeyKind::size);
    if (parse_size(entry.key)) return;
    findings_.mistake(entry, path,
                      "expected " + std::string(expected(KeyKind::size)) + " as key, got " +
                          log_escaped(entry.key));
  }

  void say_unknown(const Node& node, const std::string& path) {
    auto what = std::string("unknown key");
    if (node.key.find('.') != std::string::npos) {
      what += "; sections are nested in YAML, not joined by dots";
    } else if (suggestions_left_ > 0) {
      --suggestions_left_;
      const auto suggestion = nearest_key(path);
      if (!suggestion.empty()) what += "; did you mean " + suggestion + "?";
    }
    if (lenient_) {
      findings_.notice(node, log_escaped(path), what);
    } else {
      findings_.mistake(node, log_escaped(path), what);
    }
  }

  bool lenient_;
  int suggestions_left_ = 20;  // Each compares with the whole table; a file may have 10000 keys.
  Findings& findings_;
};

/// Set to what an absent key means.
bool is_zero(const Node& node) {
  if (node.kind == Node::Kind::null) return true;
  if (node.kind != Node::Kind::scalar) return node.children.empty();
  return node.text.empty() || as_boolean(node) == false || as_number(node) == 0.0;
}

/// The keys that follow one rule without effect: they share a notice.
struct IgnoredGroup {
  const KeyRow* rule;
  const Node* first;
  std::string first_path;
  std::size_t key_count;
};

class Review {
 public:
  explicit Review(Findings& findings) : findings_(findings) {}

  void visit(const Node& map, const std::string& path) {
    for (const auto& node : map.children) {
      const auto* row = find_key_in(path, node.key);
      if (row == nullptr) continue;
      if (row->kind == KeyKind::section) {
        visit(node, row->path);
      } else if (!is_zero(node)) {
        judge(node, *row);
      }
    }
  }

  void tell_ignored() {
    for (const auto& group : groups_) {
      auto what = std::string("no effect");
      if (group.key_count > 1) {
        what += " (nor have " + std::to_string(group.key_count - 1) + " more below " +
                group.rule->path + ")";
      }
      findings_.notice(*group.first, group.first_path, what + ": " + std::string(group.rule->note));
    }
  }

 private:
  void judge(const Node& node, const KeyRow& row) {
    const auto& rule = rule_of(row);
    if (rule.rule == KeyRule::refused) {
      findings_.mistake(node, row.path,
                        std::string(rule.note) +
                            " is not built yet, and to ignore it could lose or "
                            "expose blobs: remove the key");
    }
    if (rule.rule != KeyRule::ignored) return;
    const auto same_rule = [&](const IgnoredGroup& group) { return group.rule == &rule; };
    const auto group = std::find_if(groups_.begin(), groups_.end(), same_rule);
    if (group != groups_.end()) {
      ++group->key_count;
    } else {
      groups_.push_back({&rule, &node, row.path, 1});
    }
  }

  Findings& findings_;
  std::vector<IgnoredGroup> groups_;
};

}  // namespace

void Findings::mistake(const Node& node, const std::string& path, const std::string& what) {
  mistakes.push_back(node.where() + ": " + path + ": " + what);
}

void Findings::notice(const Node& node, const std::string& path, const std::string& what) {
  notices.push_back(node.where() + ": " + path + ": " + what);
}

void check_layer(const Node& layer, bool lenient, Findings& findings) {
  if (!fits(layer, KeyKind::section)) {
    findings.mistakes.push_back(layer.where() + ": expected a map of keys, got " + shown(layer));
    return;
  }
  LayerCheck(lenient, findings).check_map(layer, "");
}

void review(const Node& merged, Findings& findings) {
  Review review_of(findings);
  review_of.visit(merged, "");
  review_of.tell_ignored();
}

}  // namespace orlop
