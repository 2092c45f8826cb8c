#include "peer/snapshot_file.h"

#include <utility>

namespace orlop {
namespace {

constexpr std::size_t kStagingBytes = 256 * 1024;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

SnapshotFile::SnapshotFile(Disk& disk, std::filesystem::path path)
    : disk_(disk), path_(std::move(path)) {}

std::filesystem::path SnapshotFile::beside(const char* extension) const {
  return path_.native() + extension;
}

Result<> SnapshotFile::write(const UniqueFd& file, std::span<const std::string_view> parts) {
  staging_.reserve(kStagingBytes);
  staging_.clear();
  std::uint64_t offset = 0;
  const auto put = [&](std::string_view text) {
    auto written = disk_.write(file, bytes_of(text), offset);
    offset += text.size();
    return written;
  };
  for (const auto part : parts) {
    if (staging_.size() + part.size() > kStagingBytes) {
      if (auto written = put(staging_); !written) return written;
      staging_.clear();
    }
    if (part.size() < kStagingBytes) {
      staging_ += part;
    } else if (auto written = put(part); !written) {
      return written;
    }
  }
  return put(staging_);
}

Result<> SnapshotFile::save(std::span<const std::string_view> parts) {
  const auto temporary = beside(".new");
  // Of a process that died while it saved.
  if (auto removed = disk_.remove_file(temporary); !removed) return removed;
  {
    const auto file = disk_.create(temporary);
    if (!file) return file.error();
    if (auto written = write(*file, parts); !written) return written;
    if (auto synced = disk_.sync_data(*file); !synced) return synced;
  }
  auto kept = disk_.rename(path_, beside(".previous"));
  if (!kept && kept.error().code() != Errc::not_found) return kept;
  if (auto renamed = disk_.rename(temporary, path_); !renamed) return renamed;
  return disk_.sync_directory(path_.parent_path());
}

Result<std::string> SnapshotFile::read(Generation generation, std::size_t bytes_max,
                                       std::size_t padding_bytes) {
  const auto path = generation == Generation::current ? path_ : beside(".previous");
  const auto file = disk_.open_for_reading(path);
  if (!file) return file.error();
  const auto stat = disk_.stat(*file);
  if (!stat) return stat.error();
  if (stat->size_bytes > bytes_max) {
    return Error(Errc::busy, path.string() + " is longer than " + std::to_string(bytes_max));
  }
  std::string bytes;
  bytes.reserve(stat->size_bytes + padding_bytes);
  bytes.resize(stat->size_bytes);
  const auto count = disk_.read(*file, std::as_writable_bytes(std::span(bytes)), 0);
  if (!count) return count.error();
  bytes.resize(*count);
  bytes.append(padding_bytes, '\0');
  return bytes;
}

Result<> SnapshotFile::set_aside() { return disk_.rename(path_, beside(".refused")); }

}  // namespace orlop
