#include "store/sidecars.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/result.h"

namespace orlop {
namespace {

constexpr std::array<std::string_view, 6> kTrueWords = {"1", "t", "T", "TRUE", "true", "True"};
constexpr std::array<std::string_view, 6> kFalseWords = {"0", "f", "F", "FALSE", "false", "False"};
constexpr std::size_t kPersistBytesMax = 5;      // "false"
constexpr std::size_t kVarintBytesMax = 10;      // 64 bits, seven a byte.
constexpr std::size_t kLastAccessTimeBytes = 8;  // Kraken's buffer (metadata/last_access_time.go).
constexpr std::size_t kPieceTextBytesMax = 11;   // "4294967295,"
constexpr std::size_t kTorrentMetaFrame = 64 << 10;  // All but the sums, with room for blanks.

/// What is read of one file.
enum class Found : std::uint8_t { absent, broken, whole };

struct Text {
  Found found = Found::absent;
  std::string bytes;
};

/// At most `bytes_max` bytes of a file. A longer one is broken, or cut if `cut` is set.
Result<Text> read_text(Disk& disk, const std::filesystem::path& path, std::size_t bytes_max,
                       bool cut) {
  auto file = disk.open_for_reading(path);
  if (!file) {
    if (file.error().code() == Errc::not_found) return Text{};
    // Not ours to read. The blob itself may be, so that is no reason to refuse it.
    if (file.error().code() == Errc::io_error) return Text{.found = Found::broken, .bytes = {}};
    return std::move(file).error();
  }
  const auto stat = disk.stat(*file);
  if (!stat) return stat.error();
  const bool longer = stat->size_bytes > bytes_max;
  if (longer && !cut) return Text{.found = Found::broken, .bytes = {}};
  Text text{
      .found = Found::whole,
      .bytes = std::string(longer ? bytes_max : static_cast<std::size_t>(stat->size_bytes), '\0')};
  const auto count =
      disk.read(*file, std::as_writable_bytes(std::span(text.bytes.data(), text.bytes.size())), 0);
  // A bad sector under a sidecar is not one under the blob.
  if (!count || *count != text.bytes.size()) return Text{.found = Found::broken, .bytes = {}};
  return text;
}

/// A blob cannot be cut into more pieces than it has bytes, which bounds an honest text of its.
std::size_t torrent_meta_bytes_max(std::uint64_t size_bytes) {
  const auto pieces = std::min<std::uint64_t>(size_bytes, kTorrentMetaBytesMax);
  return std::min(kTorrentMetaBytesMax,
                  kTorrentMetaFrame + kPieceTextBytesMax * static_cast<std::size_t>(pieces));
}

Result<Found> read_metainfo(Disk& disk, const std::filesystem::path& folder, Digest digest,
                            std::uint64_t size_bytes, std::optional<MetaInfo>& metainfo) {
  auto text =
      read_text(disk, folder / kTorrentMetaName, torrent_meta_bytes_max(size_bytes), /*cut=*/false);
  if (!text) return std::move(text).error();
  if (text->found != Found::whole) return text->found;
  auto parsed = MetaInfo::parse_json(text->bytes);
  if (!parsed && parsed.error().code() == Errc::busy) return std::move(parsed).error();
  if (!parsed || parsed->digest() != digest || parsed->size_bytes() != size_bytes) {
    return Found::broken;
  }
  metainfo = *std::move(parsed);
  return Found::whole;
}

}  // namespace

std::optional<bool> parse_persist(std::string_view bytes) {
  if (std::ranges::find(kTrueWords, bytes) != kTrueWords.end()) return true;
  if (std::ranges::find(kFalseWords, bytes) != kFalseWords.end()) return false;
  return std::nullopt;
}

std::string encode_persist(bool persist) { return persist ? "true" : "false"; }

std::optional<std::int64_t> parse_last_access_time(std::string_view bytes) {
  std::uint64_t zigzag = 0;
  for (std::size_t i = 0; i < bytes.size() && i < kVarintBytesMax; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    if (i == kVarintBytesMax - 1 && byte > 1) return std::nullopt;  // Bit 63 is the last.
    zigzag |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      const auto magnitude = static_cast<std::int64_t>(zigzag >> 1);
      return (zigzag & 1) == 0 ? magnitude : ~magnitude;
    }
  }
  return std::nullopt;
}

std::string encode_last_access_time(std::int64_t unix_seconds) {
  auto zigzag = static_cast<std::uint64_t>(unix_seconds) << 1;
  if (unix_seconds < 0) zigzag = ~zigzag;
  std::string bytes;
  for (; zigzag >= 0x80; zigzag >>= 7) bytes += static_cast<char>((zigzag & 0x7f) | 0x80);
  bytes += static_cast<char>(zigzag);
  if (bytes.size() < kLastAccessTimeBytes) bytes.resize(kLastAccessTimeBytes, '\0');
  return bytes;
}

bool Sidecars::pinned() const {
  return persist.value_or(false) || std::ranges::find(broken, kPersistName) != broken.end();
}

Result<Sidecars> read_sidecars(Disk& disk, const std::filesystem::path& folder, Digest digest,
                               std::uint64_t size_bytes) {
  Sidecars sidecars;
  const auto metainfo = read_metainfo(disk, folder, digest, size_bytes, sidecars.metainfo);
  if (!metainfo) return metainfo.error();
  if (*metainfo == Found::broken) sidecars.broken.push_back(kTorrentMetaName);

  const auto persist = read_text(disk, folder / kPersistName, kPersistBytesMax, /*cut=*/false);
  if (!persist) return persist.error();
  if (persist->found == Found::whole) sidecars.persist = parse_persist(persist->bytes);
  if (persist->found != Found::absent && !sidecars.persist) {
    sidecars.broken.push_back(kPersistName);
  }

  const auto time = read_text(disk, folder / kLastAccessTimeName, kVarintBytesMax, /*cut=*/true);
  if (!time) return time.error();
  if (time->found == Found::whole) sidecars.last_access_time = parse_last_access_time(time->bytes);
  if (time->found != Found::absent && !sidecars.last_access_time) {
    sidecars.broken.push_back(kLastAccessTimeName);
  }
  return sidecars;
}

}  // namespace orlop
