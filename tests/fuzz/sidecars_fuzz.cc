// Sidecars are written by another program, in place and unsynced. Properties: what is accepted is
// written back as something that is read as the same value, and Kraken's own bytes unchanged; a
// metainfo is only believed if it is of this blob; whatever is not accepted is named as broken.

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "store/sidecars.h"

namespace orlop {
namespace {

/// A folder in which each sidecar is the same text, in memory.
class OneTextDisk final : public Disk {
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

  // Nothing else is asked of it.
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

void check_values(std::string_view text) {
  if (const auto persist = parse_persist(text)) {
    ORLOP_CHECK(parse_persist(encode_persist(*persist)) == persist);
  }
  const auto seconds = parse_last_access_time(text);
  if (!seconds) return;
  const auto encoded = encode_last_access_time(*seconds);
  ORLOP_CHECK(encoded.size() >= 8 && encoded.size() <= 10);
  ORLOP_CHECK(parse_last_access_time(encoded) == seconds);
  ORLOP_CHECK(parse_last_access_time(text.substr(0, 10)) == seconds);
}

void check_folder(std::string_view text, Digest digest, std::uint64_t size_bytes) {
  OneTextDisk disk(text);
  const auto sidecars = read_sidecars(disk, "folder", digest, size_bytes);
  if (!sidecars) {
    ORLOP_CHECK(sidecars.error().code() == Errc::busy);
    return;
  }
  const auto broken = [&](std::string_view name) {
    return std::ranges::find(sidecars->broken, name) != sidecars->broken.end();
  };
  ORLOP_CHECK(sidecars->metainfo.has_value() != broken(kTorrentMetaName));
  ORLOP_CHECK(sidecars->persist.has_value() != broken(kPersistName));
  ORLOP_CHECK(sidecars->last_access_time.has_value() != broken(kLastAccessTimeName));
  ORLOP_CHECK(sidecars->persist == parse_persist(text));
  ORLOP_CHECK(sidecars->last_access_time == parse_last_access_time(text));
  if (!sidecars->metainfo) return;
  ORLOP_CHECK(sidecars->metainfo->digest() == digest);
  ORLOP_CHECK(sidecars->metainfo->size_bytes() == size_bytes);
}

}  // namespace
}  // namespace orlop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  orlop::check_values(text);
  orlop::check_folder(text, orlop::Digest({}), 11);
  // For the blob that the text is about, if it is about one, the folder must believe it.
  if (const auto info = orlop::MetaInfo::parse_json(text)) {
    orlop::check_folder(text, info->digest(), info->size_bytes());
    orlop::check_folder(text, info->digest(), info->size_bytes() ^ 1);
  }
  return 0;
}
