#include "config/effective.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <optional>
#include <set>
#include <string>

#include "config/duration.h"
#include "config/keys.h"
#include "config/size.h"
#include "tests/config/written_files.h"

namespace {

using namespace orlop;
using Catch::Contains;

/// "value (source)", or "" if nothing is said about it.
std::string said_of(const Result<Config>& config, std::string_view name) {
  REQUIRE(mistakes_of(config) == "");
  for (const auto& setting : config->effective) {
    if (setting.name == name) return setting.value + " (" + setting.source + ")";
  }
  return "";
}

TEST_CASE("effective: every key that is used is there once, in order, then the flags") {
  const auto config = load({});
  REQUIRE(mistakes_of(config) == "");
  std::vector<std::string> keys;
  std::set<std::string> flags;
  for (const auto& setting : config->effective) {
    const bool flag = setting.name.starts_with('-');
    if (flag) flags.insert(setting.name);
    if (!flag) keys.push_back(setting.name);
    INFO(setting.name);
    CHECK((flag || flags.empty()));
    CHECK_FALSE(setting.source.empty());
  }
  CHECK(std::is_sorted(keys.begin(), keys.end()));
  CHECK(std::adjacent_find(keys.begin(), keys.end()) == keys.end());
  for (const auto& row : key_table()) {
    const bool inside_list = row.path.find("[]") != std::string::npos;
    if (row.kind == KeyKind::section || inside_list || row.path == "extends") continue;
    if (rule_of(row).rule != KeyRule::used) continue;
    INFO(row.path);
    CHECK(std::binary_search(keys.begin(), keys.end(), row.path));
  }
  CHECK(flags == std::set<std::string>{"-listen", "-blobserver-port", "-blobserver-hostname",
                                       "-peer-ip", "-peer-port", "-zone", "-cluster"});
}

TEST_CASE("effective: a default is called one, with its value") {
  const auto config = load({});

  CHECK(said_of(config, "server.connections_max") == "10000 (default)");
  CHECK(said_of(config, "server.progress_timeout") == "1m (default)");
  CHECK(said_of(config, "store.upload_bytes_max") == "1TB (default)");
  CHECK(said_of(config, "store.durability") == "group (default)");
  CHECK(said_of(config, "castore.upload_cleanup.tti") == "6h (default)");
  CHECK(said_of(config, "metainfogen.piece_lengths") == "{0: 4MB} (default)");
  CHECK(said_of(config, "castore.cache_dir") == "orlop-data/cache (default)");
  CHECK(said_of(config, "-listen") == "127.0.0.1 (default)");
}

TEST_CASE("effective: what was said names who said it") {
  const WrittenFiles files;
  const auto file =
      files.write("origin.yaml", std::string(kLeastFile) + "server:\n  lame_duck: 90s\n");
  const auto config = load({"-config", file, "-data", "/srv", "-set", "store.uploads_max=7"},
                           {{"ORLOP_ZONE", "z1"}, {"ORLOP_DURABILITY", "always"}});

  CHECK_THAT(said_of(config, "server.lame_duck"), Catch::StartsWith("1m30s (" + file + ":"));
  CHECK(said_of(config, "castore.cache_dir") == "/srv/cache (-data)");
  CHECK(said_of(config, "store.uploads_max") == "7 (-set)");
  CHECK(said_of(config, "-zone") == "z1 (ORLOP_ZONE)");
  CHECK(said_of(config, "store.durability") == "always (ORLOP_DURABILITY)");
}

TEST_CASE("effective: what holds is shown, and not what was written") {
  CHECK_THAT(
      said_of(load_with("castore: {upload_cleanup: {tti: 0}}\n"), "castore.upload_cleanup.tti"),
      Catch::StartsWith("6h ("));
  CHECK_THAT(said_of(load_with("store: {uploads_max: 0x10}\n"), "store.uploads_max"),
             Catch::StartsWith("16 ("));
  CHECK_THAT(said_of(load_with("admin: {allow: [10.0.0.0/8, \"::1\"]}\n"), "admin.allow"),
             Catch::StartsWith("[10.0.0.0/8, ::1] ("));
}

TEST_CASE("effective: nothing of a secret file is shown, not even a part of a value") {
  const WrittenFiles files;
  const auto file = files.write("origin.yaml", std::string(kLeastFile));
  files.write("base.yaml", "store: {database_dir: /hidden-1}\n");
  const auto secrets = files.write("secrets.yaml",
                                   "extends: base.yaml\n"
                                   "admin: {allow: [192.0.2.77]}\n"
                                   "metainfogen: {piece_lengths: {7GB: 9MB}}\n");
  const auto config = load({"-config", file, "-secrets", secrets});

  CHECK_THAT(said_of(config, "store.database_dir"), Catch::StartsWith("(not shown) ("));
  CHECK_THAT(said_of(config, "admin.allow"), Catch::StartsWith("(not shown) ("));
  CHECK_THAT(said_of(config, "metainfogen.piece_lengths"), Catch::StartsWith("(not shown) ("));
  for (const auto& setting : config->effective) {
    CHECK_THAT(setting.value, !Contains("hidden") && !Contains("192.0.2.77") && !Contains("9MB"));
  }
}

TEST_CASE("effective: a value that could forge a line is quoted") {
  const auto config = load({"-set", "store.database_dir=\"/a\\nb = c (default)\""});

  CHECK_THAT(said_of(config, "store.database_dir"), !Contains("\n"));
}

TEST_CASE("effective: sizes and durations are written as they could be read") {
  const auto bytes = GENERATE(0ULL, 1ULL, 1023ULL, 1024ULL, 1025ULL, 4ULL << 20, 5ULL << 30,
                              1ULL << 40, (1ULL << 40) + 1, 1ULL << 63, ~0ULL);
  CHECK(parse_size(size_text(bytes)) == bytes);
  const auto ns = GENERATE(0LL, 1LL, 999LL, 1'000LL, 1'000'000'000LL, 5'400'000'000'000LL,
                           90'000'000'001LL, 3'153'600'000'000'000'000LL);
  CHECK(parse_duration(duration_text(std::chrono::nanoseconds(ns))) ==
        std::chrono::nanoseconds(ns));
  CHECK(size_text(4 << 20) == "4MB");
  CHECK(duration_text(std::chrono::minutes(90)) == "1h30m");
  CHECK(duration_text(std::chrono::nanoseconds(0)) == "0s");
}

}  // namespace
