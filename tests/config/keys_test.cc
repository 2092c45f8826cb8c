#include "config/keys.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "config/nearest.h"

namespace {

using namespace orlop;

TEST_CASE("keys: no key is listed twice, and each has its section listed") {
  std::set<std::string> paths;
  for (const auto& row : key_table()) {
    INFO(row.path);
    CHECK(paths.insert(row.path).second);
  }
  for (const auto& path : paths) {
    const auto dot = path.rfind('.');
    if (dot == std::string::npos) continue;
    auto parent = path.substr(0, dot);
    if (parent.ends_with("[]")) parent.resize(parent.size() - 2);
    INFO(path);
    const auto* section = find_key(parent);
    REQUIRE(section != nullptr);
    CHECK((section->kind == KeyKind::section || section->kind == KeyKind::sections));
  }
}

TEST_CASE("keys: every key that is not a section has a rule, so that none is silently dropped") {
  for (const auto& row : key_table()) {
    if (row.kind == KeyKind::section) continue;
    INFO(row.path);
    CHECK(rule_of(row).rule != KeyRule::inherit);
  }
}

TEST_CASE("keys: what is ignored or refused says why") {
  for (const auto& row : key_table()) {
    if (row.rule != KeyRule::ignored && row.rule != KeyRule::refused) continue;
    INFO(row.path);
    CHECK_FALSE(row.note.empty());
  }
}

TEST_CASE("keys: docs/configuration.md has a row for each, and says what becomes of it") {
  std::ifstream file(ORLOP_SOURCE_DIR "/docs/configuration.md");
  const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (const auto& row : key_table()) {
    if (row.kind == KeyKind::section) continue;
    const auto rule = rule_of(row).rule;
    const std::string now = rule == KeyRule::used      ? "| used |"
                            : rule == KeyRule::refused ? "| refused |"
                                                       : "| ignored |";
    INFO(row.path);
    const auto begin = page.find("\n| `" + row.path + "` | ");
    REQUIRE(begin != std::string::npos);
    CHECK_THAT(page.substr(begin, page.find('\n', begin + 1) - begin), Catch::EndsWith(now));
  }
}

TEST_CASE("keys: a dotted name in a file is no key") {
  CHECK(find_key_in("castore", "cache_dir") != nullptr);
  CHECK(find_key_in("", "castore.cache_dir") == nullptr);
  CHECK(find_key_in("castore", "volumes[].location") == nullptr);
}

TEST_CASE("keys: the nearest key is the one that was meant") {
  const auto [wrong, right] = GENERATE(table<std::string, std::string>({
      {"castore.cach_dir", "castore.cache_dir"},
      {"castore.cache_dri", "castore.cache_dir"},
      {"castore.cacheDir", "castore.cache_dir"},
      {"castore.upload_cleanup.aggressive_ttl", "castore.upload_cleanup.aggressive_ttL"},
      {"store.cache_dir", "castore.cache_dir"},
      {"capacity", "castore.capacity"},
      {"peer_id_factroy", "peer_id_factory"},
      {"castor", "castore"},
      {"backend", "backends"},
      {"castore.volumes[].wieght", "castore.volumes[].weight"},
      {"something_else_entirely", ""},
  }));
  INFO(wrong);
  CHECK(nearest_key(wrong) == right);
}

TEST_CASE("nearest: distances count inserted, deleted, replaced and swapped characters") {
  CHECK(edit_distance("", "") == 0);
  CHECK(edit_distance("abc", "") == 3);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("listen", "lisetn") == 1);
  CHECK(edit_distance("ttl", "ttL") == 1);
  CHECK(edit_distance(std::string(100000, 'a'), "b") == 128);
}

}  // namespace
