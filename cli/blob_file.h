#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "base/unique_fd.h"
#include "cluster/transfer.h"

namespace orlop {

/// Called as a file is read, with the bytes so far.
using ReadProgress = std::function<void(std::uint64_t bytes)>;

/// A file that is to be sent. It must stay as it is meanwhile.
class FileSource final : public BlobSource {
 public:
  /// `invalid_argument` for what is no regular file.
  static Result<FileSource> open(const std::filesystem::path& path);

  std::uint64_t size_bytes() const override { return size_bytes_; }
  Result<> read(std::span<std::byte> into, std::uint64_t offset) override;

  /// Reads all of it.
  Result<Digest> digest(const ReadProgress& progress);

 private:
  FileSource(std::string path, UniqueFd file, std::uint64_t size_bytes)
      : path_(std::move(path)), file_(std::move(file)), size_bytes_(size_bytes) {}

  std::string path_;
  UniqueFd file_;
  std::uint64_t size_bytes_;
};

/// A file that is received. It has its name only once it is whole, and then it is on the disk: a
/// file of this name that was there stays until that moment, and stays if it never comes.
class FileSink final : public BlobSink {
 public:
  static Result<FileSink> create(const std::filesystem::path& path);
  FileSink(FileSink&& other) noexcept;
  FileSink& operator=(FileSink&&) = delete;
  ~FileSink() override;

  Result<> write(std::span<const std::byte> bytes) override;
  Result<> restart() override;
  /// Gives it its name.
  Result<> finish();

 private:
  FileSink(std::filesystem::path path, std::filesystem::path part, UniqueFd file)
      : path_(std::move(path)), part_(std::move(part)), file_(std::move(file)) {}

  std::filesystem::path path_;
  std::filesystem::path part_;  ///< Where the bytes lie meanwhile; empty once they have the name.
  UniqueFd file_;
};

/// Standard output. What went there cannot be taken back, so a blob that turns out wrong is one.
class OutputSink final : public BlobSink {
 public:
  Result<> write(std::span<const std::byte> bytes) override;
  Result<> restart() override;
};

}  // namespace orlop
