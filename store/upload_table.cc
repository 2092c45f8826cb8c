#include "store/upload_table.h"

#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "base/log.h"

namespace orlop {
namespace {

/// docs/formats.md, "Upload sessions".
constexpr std::string_view kSessionHeader = "orlop upload 1\n";
constexpr std::size_t kSessionBytesMax = 256;
constexpr std::size_t kCopyBytes = 1 << 20;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

Result<Digest> parse_session(std::string_view text) {
  if (!text.starts_with(kSessionHeader)) return Error(Errc::corrupt, "not an upload session");
  text.remove_prefix(kSessionHeader.size());
  if (!text.ends_with('\n')) return Error(Errc::corrupt, "the upload session is cut off");
  text.remove_suffix(1);
  return Digest::parse(text);
}

Result<MetaInfo> copy_bytes(Disk& disk, const Upload& from, Upload& to) {
  std::vector<std::byte> buffer(kCopyBytes);
  to.begin_chunk(0);
  while (to.size_bytes() < from.size_bytes()) {
    const auto count = disk.read(from.file(), buffer, to.size_bytes());
    if (!count) return count.error();
    if (*count == 0) return Error(Errc::corrupt, "the upload's file became shorter");
    if (auto written = to.append(std::span(buffer).first(*count)); !written) {
      return std::move(written).error();
    }
  }
  return to.finish();
}

}  // namespace

UploadTable::UploadTable(Disk& disk, const Clock& clock, Random& random, const Layout& layout,
                         const PieceLengths& piece_lengths, UploadTableOptions options)
    : disk_(disk),
      clock_(clock),
      random_(random),
      layout_(layout),
      piece_lengths_(piece_lengths),
      options_(std::move(options)) {}

Result<> UploadTable::recover() {
  for (std::size_t filesystem = 0; filesystem < layout_.filesystem_count(); ++filesystem) {
    auto recovered = recover_folder(layout_.upload_dir_of(filesystem));
    if (!recovered) return recovered;
  }
  if (count() > 0) log_info("uploads_recovered", {{"count", count()}});
  return {};
}

Result<> UploadTable::recover_folder(const std::filesystem::path& upload_dir) {
  const auto entries = disk_.list(upload_dir);
  if (!entries) return entries.error();

  std::set<std::string> ids;
  std::size_t foreign = 0;
  for (const auto& entry : *entries) {
    std::string_view name = entry.name;
    if (name.ends_with(Layout::kSessionSuffix)) name.remove_suffix(Layout::kSessionSuffix.size());
    if (entry.regular_file && UploadId::parse(name)) {
      ids.emplace(name);
    } else if (++foreign <= 10) {
      log_warn("foreign_file_in_upload_dir", {{"name", entry.name}});
    }
  }
  if (foreign > 10) log_warn("foreign_files_in_upload_dir", {{"count", foreign}});

  for (const auto& text : ids) {
    const auto id = UploadId::parse(text);
    ORLOP_CHECK(id.has_value());
    const auto path = upload_dir / id->text();
    if (auto recovered = recover_one(*id, path); !recovered) {
      log_info("upload_leftover_removed",
               {{"upload", text}, {"reason", recovered.error().detail()}});
      (void)disk_.remove_file(path);  // Tried again by the next start.
      (void)disk_.remove_file(Layout::session(path));
    }
  }
  return {};
}

Result<> UploadTable::recover_one(const UploadId& id, const std::filesystem::path& path) {
  auto file = disk_.open(path);
  if (!file) return std::move(file).error();
  const auto digest = read_session(path);
  if (!digest) return digest.error();
  const auto stat = disk_.stat(*file);
  if (!stat) return stat.error();

  auto upload = std::make_shared<Upload>(disk_, piece_lengths_, id, *digest, path, *std::move(file),
                                         stat->size_bytes);
  const std::lock_guard lock(mutex_);
  uploads_.emplace(id, Entry{.upload = std::move(upload), .active_at = clock_.steady()});
  return {};
}

Result<std::shared_ptr<Upload>> UploadTable::start(Digest digest, UploadLife life,
                                                   Reservation space) {
  if (count() >= options_.uploads_max) {
    refused_.add();
    return Error(Errc::busy, "too many uploads in progress (store.uploads_max is " +
                                 std::to_string(options_.uploads_max) + ")");
  }
  const auto id = UploadId::make(random_, options_.ring_label);
  const auto path = layout_.upload(id, digest);
  auto file = disk_.create(path);
  if (!file) return std::move(file).error();
  if (life == UploadLife::resumable) {
    if (auto written = write_session(path, digest); !written) {
      // What stays all the same is removed by the next start of the process.
      (void)disk_.remove_file(path);
      (void)disk_.remove_file(Layout::session(path));
      return std::move(written).error();
    }
  }
  auto upload = std::make_shared<Upload>(disk_, piece_lengths_, id, digest, path, *std::move(file));
  upload->space = std::move(space);
  const std::lock_guard lock(mutex_);
  uploads_.emplace(id, Entry{.upload = upload, .active_at = clock_.steady()});
  return upload;
}

bool UploadTable::lies_where_blob_will(const Upload& upload, Digest digest) const {
  return upload.path() == layout_.upload(upload.id(), digest);
}

Result<std::shared_ptr<Upload>> UploadTable::copy(const Upload& from, Digest digest,
                                                  Reservation space) {
  auto started = start(digest, UploadLife::single, std::move(space));
  if (!started) return std::move(started).error();
  auto& to = **started;
  auto copied = copy_bytes(disk_, from, to);
  // The copy is what will be served, so it is what has to be right.
  if (copied && copied->digest() != digest) {
    copied = Error(Errc::corrupt, "upload " + std::string(from.id().text()) + " reads as " +
                                      copied->digest().to_string() + " now");
  }
  if (copied) return started;
  discard(to);
  return std::move(copied).error();
}

std::shared_ptr<Upload> UploadTable::find(const UploadId& id, Digest digest) {
  const std::lock_guard lock(mutex_);
  const auto found = uploads_.find(id);
  if (found == uploads_.end() || found->second.upload->digest() != digest) return nullptr;
  found->second.active_at = clock_.steady();
  return found->second.upload;
}

void UploadTable::discard(Upload& upload) {
  upload.space.release();
  {
    const std::lock_guard lock(mutex_);
    uploads_.erase(upload.id());
  }
  for (const auto& path : {upload.path(), Layout::session(upload.path())}) {
    if (auto removed = disk_.remove_file(path); !removed) {
      log_warn("upload_not_removed", {{"upload", upload.id().text()},
                                      {"reason", removed.error().detail()},
                                      {"next", "removed by the next start"}});
    }
  }
}

std::size_t UploadTable::discard_idle() {
  std::vector<std::shared_ptr<Upload>> idle;
  {
    const std::lock_guard lock(mutex_);
    const auto now = clock_.steady();
    for (auto& [id, entry] : uploads_) {
      // A request that takes long is activity until its end, not only when it looked the upload up.
      if (entry.upload.use_count() > 1) entry.active_at = now;
      if (now - entry.active_at >= options_.promise_max) entry.upload->space.release();
      if (now - entry.active_at >= options_.idle_max) idle.push_back(entry.upload);
    }
    // Out of the table under the same lock: nobody can find one and lose its file.
    for (const auto& upload : idle) uploads_.erase(upload->id());
  }
  for (const auto& upload : idle) {
    discard(*upload);
    log_info("upload_expired", {{"upload", upload->id().text()},
                                {"digest", upload->digest().to_string()},
                                {"bytes", upload->size_bytes()}});
  }
  return idle.size();
}

std::size_t UploadTable::count() const {
  const std::lock_guard lock(mutex_);
  return uploads_.size();
}

Result<> UploadTable::write_session(const std::filesystem::path& upload, Digest digest) {
  auto file = disk_.create(Layout::session(upload));
  if (!file) return std::move(file).error();
  const std::string text = std::string(kSessionHeader) + digest.to_string() + "\n";
  return disk_.write(*file, bytes_of(text), 0);
}

Result<Digest> UploadTable::read_session(const std::filesystem::path& upload) {
  const auto file = disk_.open_for_reading(Layout::session(upload));
  if (!file) return file.error();
  std::array<std::byte, kSessionBytesMax> buffer;
  const auto count = disk_.read(*file, buffer, 0);
  if (!count) return count.error();
  return parse_session({reinterpret_cast<const char*>(buffer.data()), *count});
}

}  // namespace orlop
