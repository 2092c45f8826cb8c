#include "store/checked_reader.h"

#include <algorithm>
#include <string>
#include <utility>

#include "base/check.h"
#include "core/crc32.h"
#include "core/piece.h"

namespace orlop {

std::uint64_t CheckedReader::window_bytes(const MetaInfo& metainfo) {
  const auto pieces = std::max<std::uint64_t>(1, kWindowBytes / metainfo.piece_length());
  return std::min(pieces * metainfo.piece_length(), metainfo.size_bytes());
}

CheckedReader::CheckedReader(Disk& disk, SharedMetaInfo metainfo)
    : disk_(disk), metainfo_(std::move(metainfo)), window_bytes_(window_bytes(*metainfo_)) {}

Result<std::span<const std::byte>> CheckedReader::read(const UniqueFd& file, std::uint64_t offset) {
  const auto size = metainfo_->size_bytes();
  ORLOP_CHECK(offset < size);
  const auto start = offset - offset % window_bytes_;
  if (window_.empty() || start != start_) {
    auto loaded = load(file, start, std::min(window_bytes_, size - start));
    if (!loaded) {
      window_.clear();  // Half of it may be new, and none of that was compared.
      return std::move(loaded).error();
    }
    start_ = start;
  }
  return std::span<const std::byte>(window_).subspan(offset - start);
}

Result<> CheckedReader::load(const UniqueFd& file, std::uint64_t start, std::uint64_t length) {
  window_.resize(length);
  const auto count = disk_.read(file, window_, start);
  if (!count) return count.error();
  if (*count != length) return Error(Errc::corrupt, "the file is shorter than the blob");
  const auto piece_length = metainfo_->piece_length();
  const std::span<const std::byte> bytes(window_);
  for (std::uint64_t at = 0; at < length; at += piece_length) {
    const auto index = (start + at) / piece_length;
    const auto piece = bytes.subspan(at, std::min(piece_length, length - at));
    if (crc32(0, piece) != metainfo_->piece_sums()[index]) {
      return Error(Errc::corrupt, "piece " + std::to_string(index) + " is not what it was");
    }
  }
  return {};
}

}  // namespace orlop
