#include "cli/blob_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/log.h"
#include "core/digester.h"

namespace orlop {
namespace {

constexpr std::size_t kReadBytes = 1 << 20;

Error failed(const std::string& what, const std::filesystem::path& path) {
  return Error::from_errno(what + " " + log_escaped(path.string()), errno);
}

Result<> write_all(int file, std::span<const std::byte> bytes, const std::filesystem::path& path) {
  while (!bytes.empty()) {
    const auto count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("write", path);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

}  // namespace

Result<FileSource> FileSource::open(const std::filesystem::path& path) {
  // Not to wait for somebody to open the other end of a pipe.
  UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file) return failed("open", path);
  struct stat found = {};
  if (::fstat(file.get(), &found) != 0) return failed("stat", path);
  if (!S_ISREG(found.st_mode)) {
    return Error(Errc::invalid_argument, log_escaped(path.string()) + " is no regular file");
  }
  return FileSource(path.string(), std::move(file), static_cast<std::uint64_t>(found.st_size));
}

Result<> FileSource::read(std::span<std::byte> into, std::uint64_t offset) {
  while (!into.empty()) {
    const auto count = ::pread(file_.get(), into.data(), into.size(), static_cast<off_t>(offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", path_);
    if (count == 0) {
      return Error(Errc::corrupt, log_escaped(path_) + " became shorter while it was read");
    }
    into = into.subspan(static_cast<std::size_t>(count));
    offset += static_cast<std::uint64_t>(count);
  }
  return {};
}

Result<Digest> FileSource::digest(const ReadProgress& progress) {
  std::vector<std::byte> buffer(std::clamp<std::uint64_t>(size_bytes_, 1, kReadBytes));
  Digester digester;
  for (std::uint64_t offset = 0; offset < size_bytes_;) {
    const auto count = std::min<std::uint64_t>(buffer.size(), size_bytes_ - offset);
    const auto part = std::span(buffer).first(static_cast<std::size_t>(count));
    if (auto filled = read(part, offset); !filled) return std::move(filled).error();
    digester.update(part);
    offset += count;
    progress(offset);
  }
  return std::move(digester).finish();
}

Result<FileSink> FileSink::create(const std::filesystem::path& path) {
  auto name = path.string() + ".XXXXXX";
  UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return failed("create a file beside", path);
  // mkstemp lets nobody else read it; this one is to be like any other file of the user's.
  const auto mask = ::umask(0);
  ::umask(mask);
  (void)::fchmod(file.get(), 0666 & ~mask);
  return FileSink(path, name, std::move(file));
}

FileSink::FileSink(FileSink&& other) noexcept
    : path_(std::move(other.path_)),
      part_(std::exchange(other.part_, {})),
      file_(std::move(other.file_)) {}

FileSink::~FileSink() {
  if (!part_.empty()) ::unlink(part_.c_str());
}

Result<> FileSink::write(std::span<const std::byte> bytes) {
  return write_all(file_.get(), bytes, part_);
}

Result<> FileSink::restart() {
  if (::ftruncate(file_.get(), 0) != 0) return failed("empty", part_);
  if (::lseek(file_.get(), 0, SEEK_SET) != 0) return failed("rewind", part_);
  return {};
}

Result<> FileSink::finish() {
  if (::fsync(file_.get()) != 0) return failed("sync", part_);
  if (::rename(part_.c_str(), path_.c_str()) != 0) return failed("rename to", path_);
  part_.clear();
  return {};
}

Result<> OutputSink::write(std::span<const std::byte> bytes) {
  return write_all(STDOUT_FILENO, bytes, "standard output");
}

Result<> OutputSink::restart() {
  return Error(Errc::digest_mismatch,
               "what was written to standard output is not the blob; get it into a file (-o FILE)");
}

}  // namespace orlop
