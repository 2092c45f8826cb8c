#include "config/layers.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <utility>

#include "base/log.h"
#include "base/unique_fd.h"
#include "config/yaml.h"

namespace orlop {
namespace {

constexpr std::size_t kFileBytesMax = std::size_t{1} << 20;
constexpr std::size_t kFilesMax = 16;
constexpr std::size_t kPathNamesMax = 16;

Result<std::string> read_file(const std::filesystem::path& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd) return Error::from_errno("open " + file.string(), errno);

  std::string text;
  std::array<char, 16384> piece;
  while (true) {
    const auto count = ::read(fd.get(), piece.data(), piece.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno("read " + file.string(), errno);
    if (count == 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(count));
    if (text.size() > kFileBytesMax) {
      return Error(Errc::invalid_argument, file.string() + ": larger than 1 MiB");
    }
  }
}

/// One name for one file, however it is spelled.
std::filesystem::path identity(const std::filesystem::path& file) {
  std::error_code error;
  auto real = std::filesystem::canonical(file, error);
  return error ? file.lexically_normal() : real;
}

/// What the file extends. A value of the wrong type is left to check_layer().
std::optional<std::filesystem::path> parent_of(const Node& layer,
                                               const std::filesystem::path& file) {
  const auto* extends = layer.find("extends");
  if (extends == nullptr || extends->kind != Node::Kind::scalar) return std::nullopt;
  if (extends->text.empty()) return std::nullopt;
  return file.parent_path() / extends->text;
}

void set_place(Node& node, const std::string& source) {
  node.source = source;
  node.line = 0;
  for (auto& child : node.children) set_place(child, source);
}

/// {a: {b: value}} for "a.b".
Node nested(std::string_view path, Node value) {
  const auto dot = path.rfind('.');
  value.key = path.substr(dot == std::string_view::npos ? 0 : dot + 1);
  Node parent;
  parent.kind = Node::Kind::map;
  parent.source = value.source;
  parent.children.push_back(std::move(value));
  return dot == std::string_view::npos ? parent : nested(path.substr(0, dot), std::move(parent));
}

}  // namespace

Result<std::vector<Node>> load_layers(const std::filesystem::path& file) {
  std::vector<Node> layers;
  std::vector<std::filesystem::path> seen;
  std::string named_by;  // The line that extends the file: where its errors have to be looked for.

  for (std::optional<std::filesystem::path> next = file; next;) {
    const auto current = *next;
    seen.push_back(identity(current));
    auto text = read_file(current);
    if (!text)
      return named_by.empty() ? std::move(text).error() : std::move(text).error().within(named_by);
    auto layer = parse_yaml(*text, current.string());
    if (!layer) return std::move(layer).error();

    next = parent_of(*layer, current);
    layers.push_back(*std::move(layer));
    if (!next) break;

    named_by = layers.back().find("extends")->where() + ": extends";
    if (std::find(seen.begin(), seen.end(), identity(*next)) != seen.end()) {
      return Error(
          Errc::invalid_argument,
          named_by + ": cyclic reference in configuration extends detected: " + next->string());
    }
    if (layers.size() >= kFilesMax) {
      return Error(Errc::invalid_argument, named_by + ": more than 16 files extend one another");
    }
  }
  std::reverse(layers.begin(), layers.end());
  return layers;
}

Result<Node> assignment_layer(std::string_view assignment, const std::string& source) {
  const auto equals = assignment.find('=');
  const auto path = assignment.substr(0, equals);
  const auto dots = static_cast<std::size_t>(std::count(path.begin(), path.end(), '.'));
  if (equals == std::string_view::npos || path.empty() || dots >= kPathNamesMax) {
    return Error(
        Errc::invalid_argument,
        source + ": expected key=value as castore.cache_dir=/srv, got " + log_escaped(assignment));
  }
  if (path == "extends") {
    return Error(Errc::invalid_argument, source + ": extends: only a file can extend another");
  }
  auto value = parse_yaml(assignment.substr(equals + 1), source);
  if (!value) return std::move(value).error();
  set_place(*value, source);
  return nested(path, *std::move(value));
}

Node text_layer(std::string_view path, const std::string& text, const std::string& source) {
  Node value;
  value.kind = Node::Kind::scalar;
  value.text = text;
  value.quoted = true;
  value.source = source;
  return nested(path, std::move(value));
}

}  // namespace orlop
