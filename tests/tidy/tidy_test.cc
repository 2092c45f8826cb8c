// The rules of this code base that a compiler cannot check, as ordinary code over the tree.
//
// Each rule is a function from one file to its complaints. It runs twice: over all our sources, and
// over small made-up sources that break it, so that a rule which has gone blind is red too.

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace orlop {
namespace {

/// ARCHITECTURE.md, "Arrows": which rooms each room may include, beside itself. To add an arrow is
/// a decision: change this table in a commit that says why.
const std::map<std::string, std::set<std::string>> kArrows = {
    {"base", {}},
    {"core", {"base"}},
    {"store", {"base", "core"}},
    {"metadata", {"base", "core"}},
    {"http", {"base"}},
    {"peer", {"base", "core"}},
    {"cluster", {"base", "core", "http"}},
    {"cli", {"base", "core", "http", "cluster"}},
    {"origin", {"base", "core", "store", "metadata", "cluster", "peer"}},
    {"server", {"base", "core", "store", "origin"}},
    // The option structs that it fills, and nothing else of these rooms.
    {"config", {"base", "core", "store", "metadata", "origin", "server"}},
};

/// The composition root knows everyone: main, a file a subcommand, and what these share. Nobody
/// else in server/ knows how options were read.
bool is_composition_root(std::string_view name) {
  if (name == "server/main.cc" || name.starts_with("server/configured.")) return true;
  return name.starts_with("server/") &&
         (name.ends_with("_command.h") || name.ends_with("_command.cc"));
}

/// The bodies of Asio and Beast, not of a header of ours, although base/asio.h has the same name.
constexpr std::string_view kAsioBodies = "base/asio.cc";

/// Third-party headers, by the start of their name, and the paths that may include them. What one
/// room hides, another cannot come to depend on.
const std::map<std::string, std::vector<std::string>> kThirdParty = {
    {"boost/asio",
     {"base/", "cmake/pch.cc", "http/", "origin/", "peer/", "server/", "tests/", "bench/"}},
    {"boost/beast",
     {"base/asio.cc", "cmake/pch.cc", "http/", "server/", "tests/server/", "tests/fuzz/",
      "bench/"}},
    {"catch2/", {"tests/"}},
    {"fmt/", {"base/"}},
    {"isa-l", {"core/"}},
    {"nlohmann/", {"tests/"}},
    {"openssl/", {"core/", "tests/core/"}},
    {"prometheus/", {"server/metric_page.cc"}},
    {"rocksdb/", {"metadata/", "tests/"}},
    {"simdjson", {"core/", "cluster/", "peer/", "tests/core/"}},
    {"spdlog/", {"base/", "tests/base/"}},
    {"yaml-cpp/", {"config/"}},
};

constexpr std::size_t kLinesMax = 500;
constexpr std::size_t kColumnsMax = 100;

struct Source {
  std::string name;  ///< From the project root: "store/blob_store.cc".
  std::vector<std::string> lines;

  bool is_header() const { return name.ends_with(".h"); }
  /// "store" for store/ and for tests/store/; empty where the arrows do not hold (bench/, cmake/).
  std::string room() const;
};

struct Tree {
  std::vector<Source> sources;

  bool has(std::string_view name) const {
    return std::any_of(sources.begin(), sources.end(),
                       [&](const Source& source) { return source.name == name; });
  }
};

struct Include {
  bool ours = false;  ///< In quotes.
  std::string name;
};

using Complaints = std::vector<std::string>;
using Rule = Complaints (*)(const Source& source, const Tree& tree);

std::string Source::room() const {
  const std::filesystem::path path(name);
  auto part = path.begin();
  if (*part == "tests") ++part;
  return kArrows.contains(part->string()) ? part->string() : "";
}

std::optional<Include> included(const std::string& line) {
  static const std::regex pattern(R"re(^\s*#\s*include\s*(["<])([^">]+)[">].*$)re");
  std::smatch match;
  if (!std::regex_match(line, match, pattern)) return std::nullopt;
  return Include{.ours = match[1] == "\"", .name = match[2]};
}

std::vector<Include> includes(const Source& source) {
  std::vector<Include> found;
  for (const auto& line : source.lines) {
    if (auto include = included(line)) found.push_back(*std::move(include));
  }
  return found;
}

/// Characters, not bytes: a line with a Greek letter is no wider for it.
std::size_t columns(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(
      line.begin(), line.end(), [](char c) { return (static_cast<unsigned char>(c) >> 6) != 2; }));
}

Complaints arrows(const Source& source, const Tree&) {
  Complaints complaints;
  const auto room = source.room();
  if (room.empty() || is_composition_root(source.name)) return complaints;
  for (const auto& include : includes(source)) {
    const auto target = include.name.substr(0, include.name.find('/'));
    if (!include.ours || target == room || !kArrows.contains(target)) continue;
    if (!kArrows.at(room).contains(target)) complaints.push_back("includes " + include.name);
  }
  return complaints;
}

Complaints known_rooms(const Source& source, const Tree&) {
  static const std::set<std::string> kNoRooms = {"bench", "cmake", "tests"};
  const auto top = source.name.substr(0, source.name.find('/'));
  if (kArrows.contains(top) || kNoRooms.contains(top)) return {};
  return {"is in a folder without a line in kArrows"};
}

Complaints third_party(const Source& source, const Tree&) {
  Complaints complaints;
  for (const auto& include : includes(source)) {
    for (const auto& [prefix, paths] : kThirdParty) {
      if (include.ours || !include.name.starts_with(prefix)) continue;
      const bool allowed = std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
        return source.name.starts_with(path);
      });
      if (!allowed) complaints.push_back("includes " + include.name);
    }
  }
  return complaints;
}

Complaints includes_from_root(const Source& source, const Tree& tree) {
  Complaints complaints;
  for (const auto& include : includes(source)) {
    if (include.ours && !tree.has(include.name)) {
      complaints.push_back("includes " + include.name + ", which is no path from the root");
    }
  }
  return complaints;
}

Complaints include_order(const Source& source, const Tree& tree) {
  if (source.name == kAsioBodies) return {};
  auto all = includes(source);
  const auto own = source.name.substr(0, source.name.rfind('.')) + ".h";
  const bool has_own = !source.is_header() && tree.has(own);
  if (has_own && (all.empty() || all.front().name != own)) {
    return {"does not include its own header first"};
  }
  // A test begins with the header that it tests: so that header is compiled with nothing before it.
  if (!source.is_header() && !all.empty() && all.front().ours) all.erase(all.begin());
  const auto angle_after_ours = std::adjacent_find(
      all.begin(), all.end(), [](const Include& a, const Include& b) { return a.ours && !b.ours; });
  if (angle_after_ours == all.end()) return {};
  return {"includes " + std::next(angle_after_ours)->name + " after ours"};
}

Complaints pragma_once(const Source& source, const Tree&) {
  if (!source.is_header()) return {};
  if (!source.lines.empty() && source.lines.front() == "#pragma once") return {};
  return {"does not begin with #pragma once"};
}

Complaints sizes(const Source& source, const Tree&) {
  Complaints complaints;
  if (source.lines.size() > kLinesMax) {
    complaints.push_back("has " + std::to_string(source.lines.size()) + " lines");
  }
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    if (columns(source.lines[i]) <= kColumnsMax) continue;
    complaints.push_back("line " + std::to_string(i + 1) + " is too wide");
  }
  return complaints;
}

Complaints nouns(const Source& source, const Tree&) {
  // A name that needs one of these words has not found its noun yet.
  static const std::regex path_word(R"((^|[/_.])(utils?|helpers?|managers?|common|impl)([/_.]|$))");
  static const std::regex type_word(
      R"(^\s*(enum class|class|struct|enum|namespace|concept)\s+\w*)"
      R"((Utils?|Helpers?|Managers?|Common|Impl|utils?|helpers?)(?![a-z])\w*)");
  Complaints complaints;
  if (std::regex_search(source.name, path_word)) complaints.push_back("has a name without a noun");
  for (const auto& line : source.lines) {
    if (std::regex_search(line, type_word)) complaints.push_back("names no noun: " + line);
  }
  return complaints;
}

/// The type that a line begins to define at the left margin, which is where namespace orlop is.
std::string defined_type(const std::string& line) {
  static const std::regex definition(
      R"(^(?:class|struct|enum class)(?: \[\[\w+\]\]| alignas\(\w+\))? (\w+)\b(?!::)[^;]*$)");
  std::smatch match;
  return std::regex_search(line, match, definition) ? match[1].str() : std::string();
}

/// Two types of one name in one flat namespace are one to the linker, which keeps the functions of
/// either: memory is freed by the other's destructor, and nobody warns.
Complaints one_definition(const Source& source, const Tree& tree) {
  if (!source.name.ends_with(".h") || source.name.starts_with("tests/")) return {};
  Complaints complaints;
  for (const auto& line : source.lines) {
    const auto type = defined_type(line);
    if (type.empty()) continue;
    for (const auto& other : tree.sources) {
      const bool compared = other.name.ends_with(".h") && !other.name.starts_with("tests/");
      if (!compared || other.name == source.name) continue;
      const bool again = std::any_of(other.lines.begin(), other.lines.end(),
                                     [&](const auto& text) { return defined_type(text) == type; });
      if (again) complaints.push_back("defines " + type + ", as " + other.name + " does");
    }
  }
  return complaints;
}

std::optional<Source> read_source(const std::filesystem::path& root,
                                  const std::filesystem::path& path) {
  const auto extension = path.extension();
  if (extension != ".h" && extension != ".cc") return std::nullopt;
  Source source{.name = path.lexically_relative(root).generic_string(), .lines = {}};
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) source.lines.push_back(line);
  return source;
}

Tree our_tree() {
  const std::filesystem::path root = ORLOP_SOURCE_DIR;
  Tree tree;
  for (const auto& top : std::filesystem::directory_iterator(root)) {
    const auto name = top.path().filename().string();
    if (!top.is_directory() || name.starts_with('.') || name == "build" || name == "data") continue;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(top.path())) {
      if (auto source = read_source(root, entry.path())) tree.sources.push_back(*std::move(source));
    }
  }
  return tree;
}

void check_all(Rule rule) {
  static const auto tree = our_tree();
  REQUIRE(tree.sources.size() > 20);  // Else we look at the wrong folder, and all is well there.
  for (const auto& source : tree.sources) {
    for (const auto& complaint : rule(source, tree)) {
      FAIL_CHECK(source.name << " " << complaint);
    }
  }
}

/// How often `rule` complains of a file of this name and these lines, in a tree that also has a
/// core/digest.h.
std::size_t complaints_of(Rule rule, const std::string& name, std::vector<std::string> lines) {
  const Source source{.name = name, .lines = std::move(lines)};
  const Tree tree{.sources = {source, {.name = "core/digest.h", .lines = {"#pragma once"}}}};
  return rule(source, tree).size();
}

TEST_CASE("tidy: rooms include only along the arrows") {
  check_all(arrows);

  CHECK(complaints_of(arrows, "base/a.cc", {"#include \"core/digest.h\""}) == 1);
  CHECK(complaints_of(arrows, "store/a.h", {"  #  include \"metadata/keys.h\""}) == 1);
  CHECK(complaints_of(arrows, "metadata/a.h", {"#include \"store/disk.h\"  // So."}) == 1);
  CHECK(complaints_of(arrows, "server/router.cc", {"#include \"config/config.h\""}) == 1);
  for (const auto* root : {"server/main.cc", "server/configured.h", "server/serve_command.cc"}) {
    CHECK(complaints_of(arrows, root, {"#include \"config/config.h\""}) == 0);
  }
  CHECK(complaints_of(arrows, "server/session.cc", {"#include \"config/config.h\""}) == 1);
  CHECK(complaints_of(arrows, "store/a_command.cc", {"#include \"server/server.h\""}) == 1);
  CHECK(complaints_of(arrows, "tests/store/a_test.cc", {"#include \"origin/origin.h\""}) == 1);
  CHECK(complaints_of(arrows, "tests/store/a_test.cc", {"#include \"tests/base/a.h\""}) == 0);
  CHECK(complaints_of(arrows, "origin/a.cc", {"#include \"store/blob_store.h\""}) == 0);
}

TEST_CASE("tidy: every folder of sources has its place among the arrows") {
  check_all(known_rooms);

  CHECK(complaints_of(known_rooms, "attic/a.cc", {}) == 1);
}

TEST_CASE("tidy: third-party headers stay in their room") {
  check_all(third_party);

  CHECK(complaints_of(third_party, "origin/a.cc", {"#include <rocksdb/db.h>"}) == 1);
  CHECK(complaints_of(third_party, "metadata/a.cc", {"#include <rocksdb/db.h>"}) == 0);
  CHECK(complaints_of(third_party, "server/a.cc", {"#include <yaml-cpp/yaml.h>"}) == 1);
  CHECK(complaints_of(third_party, "store/a.cc", {"#include <spdlog/spdlog.h>"}) == 1);
  CHECK(complaints_of(third_party, "base/asio.h", {"#include <boost/beast/http.hpp>"}) == 1);
  CHECK(complaints_of(third_party, "store/a.h", {"#include <boost/asio/post.hpp>"}) == 1);
  CHECK(complaints_of(third_party, "store/a.cc", {"#include <openssl/evp.h>"}) == 1);
  CHECK(complaints_of(third_party, "core/a.cc", {"#include <nlohmann/json.hpp>"}) == 1);
}

TEST_CASE("tidy: no two headers define a type of one name") {
  check_all(one_definition);

  const Source config{.name = "config/node.h", .lines = {"struct Node {"}};
  const Source origin{.name = "origin/node.h", .lines = {"class Node final : public Base {"}};
  const Source forward{.name = "store/a.h", .lines = {"class Node;"}};
  CHECK(one_definition(config, {.sources = {config, origin}}).size() == 1);
  CHECK(one_definition(config, {.sources = {config, forward}}).empty());
}

TEST_CASE("tidy: our headers are included by their path from the root") {
  check_all(includes_from_root);

  CHECK(complaints_of(includes_from_root, "core/a.h", {"#include \"../core/digest.h\""}) == 1);
  CHECK(complaints_of(includes_from_root, "core/a.h", {"#include \"digest.h\""}) == 1);
  CHECK(complaints_of(includes_from_root, "core/a.h", {"#include \"core/digest.h\""}) == 0);
}

TEST_CASE("tidy: a file includes its own header first, then <...>, then ours") {
  check_all(include_order);

  const std::string own = "#include \"core/digest.h\"";
  CHECK(complaints_of(include_order, "core/digest.cc", {"#include <string>", own}) == 1);
  CHECK(complaints_of(include_order, "core/digest.cc", {}) == 1);
  CHECK(complaints_of(include_order, "core/digest.cc", {own, "#include <string>"}) == 0);
  CHECK(complaints_of(include_order, "core/a.h", {own, "#include <string>"}) == 1);
  CHECK(complaints_of(include_order, "core/a.cc", {own, own, "#include <string>"}) == 1);
}

TEST_CASE("tidy: a header begins with #pragma once") {
  check_all(pragma_once);

  CHECK(complaints_of(pragma_once, "core/a.h", {"", "#pragma once"}) == 1);
  CHECK(complaints_of(pragma_once, "core/a.cc", {}) == 0);
}

TEST_CASE("tidy: files have at most 500 lines, lines at most 100 columns") {
  check_all(sizes);

  CHECK(complaints_of(sizes, "core/a.cc", std::vector<std::string>(500)) == 0);
  CHECK(complaints_of(sizes, "core/a.cc", std::vector<std::string>(501)) == 1);
  CHECK(complaints_of(sizes, "core/a.cc", {std::string(100, 'x')}) == 0);
  CHECK(complaints_of(sizes, "core/a.cc", {std::string(101, 'x')}) == 1);
  CHECK(complaints_of(sizes, "core/a.cc", {std::string(99, 'x') + "…"}) == 0);
}

TEST_CASE("tidy: every name is a noun of its own") {
  check_all(nouns);

  CHECK(complaints_of(nouns, "core/string_util.h", {}) == 1);
  CHECK(complaints_of(nouns, "common/a.h", {}) == 1);
  CHECK(complaints_of(nouns, "core/simple.h", {"struct Implicit {};", "class Commons"}) == 0);
  CHECK(complaints_of(nouns, "core/a.h", {"class UploadManager {"}) == 1);
  CHECK(complaints_of(nouns, "core/a.h", {"struct Impl;"}) == 1);
}

}  // namespace
}  // namespace orlop
