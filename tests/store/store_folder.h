#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "base/disk.h"
#include "base/random.h"
#include "core/piece.h"
#include "store/layout.h"
#include "store/upload.h"
#include "tests/base/temporary_directory.h"

namespace orlop {

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

inline void write_file(const std::filesystem::path& path, std::string_view text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline std::set<std::string> names_in(const std::filesystem::path& directory) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    names.insert(entry.path().filename());
  }
  return names;
}

inline PieceLengths piece_lengths(const std::map<std::uint64_t, std::uint64_t>& table) {
  return *PieceLengths::make(table);
}

/// The two folders of a store, empty, in a temporary one.
struct StoreFolder {
  TemporaryDirectory directory;
  Layout layout{.upload_dir = directory.path() / "upload", .cache_dir = directory.path() / "cache"};
  PieceLengths lengths = piece_lengths({{0, 4}, {64, 16}});
  Random random;

  explicit StoreFolder(std::uint64_t seed = 20) : random(seed) {
    std::filesystem::create_directory(layout.upload_dir);
    std::filesystem::create_directory(layout.cache_dir);
  }

  /// An upload without a table around it.
  std::shared_ptr<Upload> upload(Disk& disk, Digest digest) {
    const auto id = UploadId::make(random, "node");
    const auto path = layout.upload(id, digest);
    auto file = disk.create(path);
    ORLOP_CHECK(file.has_value());
    return std::make_shared<Upload>(disk, lengths, id, digest, path, *std::move(file));
  }
};

/// One chunk, whole.
inline Result<> put_chunk(Upload& upload, std::uint64_t offset, std::string_view text) {
  upload.begin_chunk(offset);
  return upload.append(bytes_of(text));
}

}  // namespace orlop
