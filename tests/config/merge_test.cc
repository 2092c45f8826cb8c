#include "config/merge.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>
#include <vector>

#include "config/yaml.h"
#include "tests/config/written_files.h"

namespace {

using namespace orlop;
using Catch::Contains;

Node layer(const std::string& text) {
  auto node = parse_yaml(text, "f.yaml");
  REQUIRE(node);
  return *std::move(node);
}

/// A tree on one line, without places.
std::string shown(const Node& node) {
  switch (node.kind) {
    case Node::Kind::null: return "~";
    case Node::Kind::scalar: return node.text;
    case Node::Kind::list:
    case Node::Kind::map: break;
  }
  const bool is_map = node.kind == Node::Kind::map;
  std::string text;
  for (const auto& child : node.children) {
    text += (text.empty() ? "" : ", ") + (is_map ? child.key + ": " : "") + shown(child);
  }
  return is_map ? "{" + text + "}" : "[" + text + "]";
}

// kraken-formats-and-store 6.2, "Merge rules": each was run against the original there.
TEST_CASE("merge: later files are laid over earlier ones by Kraken's rules", "[golden]") {
  const auto [rule, base, over,
              want] = GENERATE(table<std::string, std::string, std::string, std::string>({
      {"structs merge field by field, at any depth",
       "{castore: {capacity: 1, upload_cleanup: {tti: 1h, ttl: 2h}}}",
       "{castore: {upload_cleanup: {ttl: 3h}}}",
       "{castore: {capacity: 1, upload_cleanup: {tti: 1h, ttl: 3h}}}"},
      {"a scalar is replaced, also by zero", "{castore: {capacity: 5}}", "{castore: {capacity: 0}}",
       "{castore: {capacity: 0}}"},
      {"a list is replaced whole", "{cluster: {static: [a, b]}}", "{cluster: {static: [c]}}",
       "{cluster: {static: [c]}}"},
      {"an empty list empties", "{cluster: {static: [a, b]}}", "{cluster: {static: []}}",
       "{cluster: {static: []}}"},
      {"piece lengths merge by key", "{metainfogen: {piece_lengths: {0: 4MB, 2GB: 8MB}}}",
       "{metainfogen: {piece_lengths: {0: 1MB}}}",
       "{metainfogen: {piece_lengths: {0: 1MB, 2GB: 8MB}}}"},
      {"and the key is the size, not its spelling", "{metainfogen: {piece_lengths: {2GB: 8MB}}}",
       "{metainfogen: {piece_lengths: {2048mb: 1MB}}}",
       "{metainfogen: {piece_lengths: {2048mb: 1MB}}}"},
      {"free-form maps merge their keys, but no deeper", "{auth: {s3: {a: 1, b: 2}, gcs: {c: 3}}}",
       "{auth: {s3: {b: 4}}}", "{auth: {s3: {b: 4}, gcs: {c: 3}}}"},
      {"null on a scalar resets it", "{castore: {capacity: 5, cache_dir: /c}}",
       "{castore: {capacity: ~}}", "{castore: {cache_dir: /c}}"},
      {"null on a section wipes it", "{castore: {cache_dir: /c}, verbose: true}", "{castore: }",
       "{verbose: true}"},
      {"a section comes back after a null", "{castore: {cache_dir: /c}}",
       "{castore: ~, castore: {upload_dir: /u}}", "{castore: {upload_dir: /u}}"},
      {"of duplicate keys the last wins", "{verbose: no}",
       "{castore: {capacity: 1, capacity: 2}, verbose: off, verbose: on}",
       "{verbose: on, castore: {capacity: 2}}"},
      {"a duplicate section merges, as decoding into one struct does", "{}",
       "{castore: {capacity: 1}, castore: {cache_dir: /c}}",
       "{castore: {capacity: 1, cache_dir: /c}}"},
      {"lists of structs do not merge", "{backends: [{namespace: a, must_ready: on}]}",
       "{backends: [{namespace: b}]}", "{backends: [{namespace: b}]}"},
      {"an empty file changes nothing", "{verbose: on}", "", "{verbose: on}"},
      {"unknown keys are left out", "{verbose: on, no_such: 1}", "{castore: {no_such: 1}}",
       "{verbose: on, castore: {}}"},
  }));
  INFO(rule);
  Node merged;
  merge_layer(merged, layer(base));
  merge_layer(merged, layer(over));

  CHECK(shown(merged) == want);
}

TEST_CASE("extends: files are merged from the root of the chain to the leaf") {
  const WrittenFiles files;
  files.write("base/root.yaml",
              std::string(kLeastFile) + "store: {uploads_max: 1, durability: never}");
  files.write("base/middle.yaml",
              "extends: root.yaml\nstore: {uploads_max: 2, group_sync: fsync}\n");
  const auto leaf =
      files.write("leaf.yaml", "extends: base/middle.yaml\nstore: {uploads_max: 3}\n");

  const auto config = load({"-config", leaf});

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->uploads_max == 3);
  CHECK(config->group_sync == Config::GroupSync::fsync);
  CHECK(config->durability == Config::Durability::never);
  CHECK(config->cache_dir == "/kraken/cache");
}

TEST_CASE("extends: an absolute path is taken as it is") {
  const WrittenFiles files;
  const auto root = files.write("root.yaml", kLeastFile);
  const auto leaf = files.write("deep/leaf.yaml", "extends: " + root + "\n");

  CHECK(mistakes_of(load({"-config", leaf})) == "");
}

TEST_CASE("extends: an empty section in the leaf loses what the base said of it") {
  const WrittenFiles files;
  files.write("base.yaml", kLeastFile);
  const auto leaf = files.write("leaf.yaml", "extends: base.yaml\ncastore:\n");

  CHECK_THAT(mistakes_of(load({"-config", leaf})), Contains("castore.cache_dir: not set"));
}

TEST_CASE("extends: a cycle is refused, at any length and however the file is spelled") {
  const WrittenFiles files;
  const auto self = files.write("self.yaml", "extends: self.yaml\n");
  const auto first = files.write("first.yaml", "extends: ./second.yaml\n");
  files.write("second.yaml", "# the line below is the third\n\nextends: ../" +
                                 std::filesystem::path(self).parent_path().filename().string() +
                                 "/first.yaml\n");

  const std::string words = "cyclic reference in configuration extends detected";
  CHECK_THAT(mistakes_of(load({"-config", self})), Contains("self.yaml:1: extends: " + words));
  CHECK_THAT(mistakes_of(load({"-config", first})), Contains("second.yaml:3: extends: " + words));
}

TEST_CASE("extends: a chain that is too long, a missing file and a list are refused") {
  const WrittenFiles files;
  for (int i = 0; i < 20; ++i) {
    files.write(std::to_string(i) + ".yaml", "extends: " + std::to_string(i + 1) + ".yaml\n");
  }
  const auto orphan = files.write("orphan.yaml", "verbose: on\nextends: nowhere.yaml\n");
  const auto list = files.write("list.yaml", std::string(kLeastFile) + "extends: [a.yaml]\n");

  CHECK_THAT(mistakes_of(load({"-config", files.path("0.yaml")})), Contains("more than 16 files"));
  CHECK(load({"-config", orphan}).error().code() == Errc::not_found);
  CHECK_THAT(mistakes_of(load({"-config", orphan})), Contains("orphan.yaml:2: extends: "));
  CHECK_THAT(mistakes_of(load({"-config", list})), Contains("list.yaml:5: extends: expected text"));
}

TEST_CASE("secrets: the file is laid over the configuration, with a chain of its own") {
  const WrittenFiles files;
  const auto config_file = files.write(
      "origin.yaml", std::string(kLeastFile) + "store: {uploads_max: 1, durability: never}\n");
  files.write("more.yaml", "store: {uploads_max: 2}\nlog: {level: debug}\n");
  const auto secrets = files.write("secrets.yaml", "extends: more.yaml\nlog: {level: warn}\n");

  const auto config = load({"-config", config_file, "-secrets", secrets});

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->uploads_max == 2);
  CHECK(config->log_level == LogLevel::warn);
  CHECK(config->durability == Config::Durability::never);
}

TEST_CASE("files: one that is missing, too large or a folder is refused by its name") {
  const WrittenFiles files;
  const auto large = files.write("large.yaml", "#" + std::string(std::size_t{1} << 20, 'x'));
  const auto fitting =
      files.write("fitting.yaml",
                  std::string(kLeastFile) + "#" + std::string((std::size_t{1} << 20) - 300, 'x'));

  CHECK(load({"-config", files.path("none.yaml")}).error().code() == Errc::not_found);
  CHECK_THAT(mistakes_of(load({"-config", files.path("none.yaml")})), Contains("none.yaml"));
  CHECK_THAT(mistakes_of(load({"-config", large})), Contains("large.yaml: larger than 1 MiB"));
  CHECK(mistakes_of(load({"-config", fitting})) == "");
  CHECK_FALSE(load({"-config", files.path("")}));
}

TEST_CASE("files: nothing is substituted in them") {
  const auto config = load_with("store: {database_dir: '${HOME}/db'}\n");

  REQUIRE(mistakes_of(config) == "");
  CHECK(config->database_dir == "${HOME}/db");
}

}  // namespace
