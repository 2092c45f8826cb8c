#pragma once

#include <fstream>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "config/config.h"
#include "tests/base/temporary_directory.h"

namespace orlop {

/// What every Kraken file of a single origin has to say, so that a test adds only its own keys.
inline constexpr std::string_view kLeastFile = R"(peer_id_factory: addr_hash
metainfogen: {piece_lengths: {0: 4MB}}
castore: {upload_dir: /kraken/upload, cache_dir: /kraken/cache}
tls: {server: {disabled: true}}
)";

/// Configuration files of a test's own.
class WrittenFiles {
 public:
  /// Writes the file and returns its path.
  std::string write(const std::string& name, std::string_view text) const {
    const auto path = directory_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream out(path, std::ios::binary);
    out << text;
    out.close();
    ORLOP_CHECK(out.good());
    return path.string();
  }

  std::string path(const std::string& name) const { return (directory_.path() / name).string(); }

 private:
  TemporaryDirectory directory_;
};

inline Result<Config> load(const std::vector<std::string>& args,
                           const Environment& environment = {}) {
  std::vector<const char*> words;
  for (const auto& arg : args) words.push_back(arg.c_str());
  return load_config(words, environment);
}

/// Loads one file made of kLeastFile and, from its line 5 on, `more`.
inline Result<Config> load_with(std::string_view more, std::vector<std::string> args = {}) {
  const WrittenFiles files;
  const auto file = files.write("origin.yaml", std::string(kLeastFile) + std::string(more));
  args.insert(args.begin(), {"-config", file});
  return load(args);
}

/// Loads one file of exactly this text.
inline Result<Config> load_text(std::string_view text) {
  const WrittenFiles files;
  return load({"-config", files.write("origin.yaml", text)});
}

/// Why it does not load; empty if it does.
inline std::string mistakes_of(const Result<Config>& config) {
  return config ? std::string() : config.error().detail();
}

/// The notices as one text, a line each; the mistakes if it does not load.
inline std::string notices_of(const Result<Config>& config) {
  if (!config) return "does not load: " + config.error().detail();
  std::string text;
  for (const auto& notice : config->notices) text += notice + "\n";
  return text;
}

}  // namespace orlop
