#include "config/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <cstddef>
#include <map>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

namespace orlop {
namespace {

constexpr std::size_t kDepthMax = 32;
constexpr std::size_t kNodesMax = 10000;

std::size_t node_count(const Node& node) {
  std::size_t count = 1;
  for (const auto& child : node.children) count += node_count(child);
  return count;
}

/// Builds our tree from yaml-cpp's events. After the first mistake it only waits for the end.
class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string source) : source_(std::move(source)) {}

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(made(Node::Kind::null, mark), anchor);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    auto node = made(Node::Kind::scalar, mark);
    node.text = value;
    node.quoted = tag != "?";  // yaml-cpp: "?" is a plain scalar without a tag.
    add(std::move(node), anchor);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) return fail(mark.line + 1, "an alias inside its own anchor");
    auto copy = found->second;
    nodes_ += node_count(copy) - 1;
    add(std::move(copy), 0);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(Node::Kind::list, mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(Node::Kind::map, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override { close(); }

  Result<Node> finish() && {
    if (mistake_) return Error(Errc::invalid_argument, *std::move(mistake_));
    return std::move(root_);
  }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor;
    std::optional<Node> key;  // In a map: the key whose value comes next.
  };

  Node made(Node::Kind kind, const YAML::Mark& mark) const {
    Node node;
    node.kind = kind;
    node.source = source_;
    node.line = mark.line + 1;
    return node;
  }

  void fail(int line, const std::string& what) {
    if (!mistake_) mistake_ = source_ + ":" + std::to_string(line) + ": " + what;
  }

  void open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (mistake_) return;
    if (open_.size() >= kDepthMax) return fail(mark.line + 1, "nested too deeply");
    open_.push_back({made(kind, mark), anchor, std::nullopt});
  }

  void close() {
    if (mistake_) return;
    auto closed = std::move(open_.back());
    open_.pop_back();
    add(std::move(closed.node), closed.anchor);
  }

  void add(Node node, YAML::anchor_t anchor) {
    if (mistake_) return;
    if (++nodes_ > kNodesMax) return fail(node.line, "more than 10000 values");
    if (anchor != 0) anchors_[anchor] = node;
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    auto& parent = open_.back();
    if (parent.node.kind == Node::Kind::list) {
      parent.node.children.push_back(std::move(node));
    } else if (!parent.key) {
      if (node.kind != Node::Kind::scalar) return fail(node.line, "a key must be a word");
      parent.key = std::move(node);
    } else {
      add_entry(parent.node, *std::exchange(parent.key, std::nullopt), std::move(node));
    }
  }

  void add_entry(Node& map, const Node& key, Node value) {
    if (key.text == "<<" && !key.quoted) return splice(map, value);
    value.key = key.text;
    value.line = key.line;  // What a person looks for is the line of the key.
    map.children.push_back(std::move(value));
  }

  /// "<<: *base" or "<<: [*first, *second]", where the earlier of a list wins.
  void splice(Node& map, const Node& value) {
    if (value.kind == Node::Kind::map) {
      map.children.insert(map.children.end(), value.children.begin(), value.children.end());
    } else if (value.kind == Node::Kind::list) {
      for (auto item = value.children.rbegin(); item != value.children.rend(); ++item) {
        if (item->kind != Node::Kind::map) return fail(item->line, "\"<<\" takes maps");
        splice(map, *item);
      }
    } else {
      fail(value.line, "\"<<\" takes a map, or a list of maps");
    }
  }

  std::string source_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchors_;
  std::size_t nodes_ = 0;
  std::optional<std::string> mistake_;
  Node root_;
};

}  // namespace

Result<Node> parse_yaml(std::string_view text, const std::string& source) {
  // The only exceptions of the room stop here.
  try {
    std::istringstream in{std::string(text)};
    YAML::Parser parser(in);
    TreeBuilder tree(source);
    if (!parser.HandleNextDocument(tree)) {
      Node empty;
      empty.source = source;
      return empty;
    }
    TreeBuilder second(source);
    if (parser.HandleNextDocument(second)) {
      return Error(Errc::invalid_argument, source + ": more than one YAML document");
    }
    return std::move(tree).finish();
  } catch (const YAML::Exception& exception) {
    auto place = source;
    if (!exception.mark.is_null()) place += ":" + std::to_string(exception.mark.line + 1);
    return Error(Errc::invalid_argument, place + ": not YAML: " + exception.msg);
  }
}

}  // namespace orlop
