#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/disk.h"

namespace orlop {

/// A disk in memory whose every file is the same text. Other calls than reading are not expected;
/// a target overrides those that its code makes.
class OneTextDisk : public Disk {
 public:
  explicit OneTextDisk(std::string_view text) : text_(text) {}

  Result<UniqueFd> open_for_reading(const std::filesystem::path&) override { return UniqueFd(); }
  Result<FileStat> stat(const UniqueFd&) override { return FileStat{.size_bytes = text_.size()}; }
  Result<std::size_t> read(const UniqueFd&, std::span<std::byte> bytes,
                           std::uint64_t offset) override {
    const auto rest = text_.substr(std::min<std::size_t>(offset, text_.size()));
    const auto count = std::min(rest.size(), bytes.size());
    if (count > 0) std::memcpy(bytes.data(), rest.data(), count);
    return count;
  }

  Result<> confine(const std::filesystem::path&) override { return unexpected(); }
  Result<UniqueFd> open(const std::filesystem::path&) override { return unexpected(); }
  Result<UniqueFd> create(const std::filesystem::path&) override { return unexpected(); }
  Result<FileStat> stat(const std::filesystem::path&) override { return unexpected(); }
  Result<> write(const UniqueFd&, std::span<const std::byte>, std::uint64_t) override {
    return unexpected();
  }
  Result<> truncate(const UniqueFd&, std::uint64_t) override { return unexpected(); }
  void start_writeback(const UniqueFd&, std::uint64_t, std::uint64_t) override { unexpected(); }
  Result<> sync_data(const UniqueFd&) override { return unexpected(); }
  Result<> sync_directory(const std::filesystem::path&) override { return unexpected(); }
  Result<> sync_filesystem(const UniqueFd&) override { return unexpected(); }
  Result<> rename(const std::filesystem::path&, const std::filesystem::path&) override {
    return unexpected();
  }
  Result<> remove_file(const std::filesystem::path&) override { return unexpected(); }
  Result<> remove_directory(const std::filesystem::path&) override { return unexpected(); }
  Result<bool> make_directory(const std::filesystem::path&) override { return unexpected(); }
  Result<UniqueFd> open_directory(const std::filesystem::path&) override { return unexpected(); }
  Result<std::vector<DirectoryEntry>> list(const std::filesystem::path&) override {
    return unexpected();
  }

 private:
  [[noreturn]] static Error unexpected() { ORLOP_UNREACHABLE(); }

  std::string_view text_;
};

}  // namespace orlop
