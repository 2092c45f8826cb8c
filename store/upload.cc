#include "store/upload.h"

#include <algorithm>
#include <utility>

#include "store/blob_hash.h"

namespace orlop {
namespace {

/// How far the kernel may fall behind before it is asked to begin writing back.
constexpr std::uint64_t kWritebackBytes = 8 << 20;

}  // namespace

Upload::Upload(Disk& disk, const PieceLengths& piece_lengths, UploadId id, Digest digest,
               std::filesystem::path path, UniqueFd file, std::uint64_t recovered_bytes)
    : disk_(disk),
      piece_lengths_(piece_lengths),
      id_(std::move(id)),
      digest_(digest),
      path_(std::move(path)),
      file_(std::move(file)),
      size_bytes_(recovered_bytes),
      in_order_(recovered_bytes == 0),
      sums_(piece_lengths),
      checkpoint_{.offset = 0, .digester = Digester(), .sums = sums_.mark()} {}

void Upload::begin_chunk(std::uint64_t offset) {
  in_order_before_chunk_ = in_order_;
  size_before_chunk_ = size_bytes();
  holes_before_chunk_ = hole_bytes_;
  chunk_offset_ = offset;
  position_ = offset;
  written_back_to_ = offset;
  if (!in_order_) return;
  if (offset == hashed_bytes_) {
    checkpoint_ = {.offset = offset, .digester = digester_, .sums = sums_.mark()};
  } else if (offset == checkpoint_.offset) {
    rewind_hashes();
  } else {
    in_order_ = false;
  }
}

std::uint64_t Upload::bytes_to_come(std::uint64_t end) const {
  return std::max({announced_bytes_, end, size_bytes()}) - (size_bytes() - hole_bytes_);
}

void Upload::announce(std::uint64_t end) { announced_bytes_ = std::max(announced_bytes_, end); }

Result<> Upload::append(std::span<const std::byte> bytes) {
  // Only what lies behind the end, or in a hole, takes space. Which of the bytes below the end are
  // in a hole nobody keeps: the first ones count as if they were.
  const auto size = size_bytes();
  const auto end = position_ + bytes.size();
  const auto behind = end - std::clamp(size, position_, end);
  const auto in_holes = std::min<std::uint64_t>(bytes.size() - behind, hole_bytes_);
  if (auto covered = space.cover(behind + in_holes); !covered) return covered;
  if (auto written = disk_.write(file_, bytes, position_); !written) return written;
  if (in_order_) {
    digester_.update(bytes);
    sums_.update(bytes);
    hashed_bytes_ += bytes.size();
  }
  space.written(behind + in_holes);
  hole_bytes_ -= in_holes;
  if (position_ > size) hole_bytes_ += position_ - size;
  position_ += bytes.size();
  size_bytes_ = std::max(size_bytes(), position_);
  unsynced_bytes_.fetch_add(bytes.size(), std::memory_order_relaxed);
  if (position_ - written_back_to_ >= kWritebackBytes) {
    disk_.start_writeback(file_, written_back_to_, position_ - written_back_to_);
    written_back_to_ = position_;
  }
  return {};
}

void Upload::rewind_hashes() {
  digester_ = checkpoint_.digester;
  sums_.rewind(checkpoint_.sums);
  hashed_bytes_ = checkpoint_.offset;
}

Result<> Upload::undo_chunk() {
  // What the chunk wrote over older bytes is gone. The hashes must not vouch for it any more.
  const bool overwrote = position_ > chunk_offset_ && chunk_offset_ < size_before_chunk_;
  if (in_order_) {
    rewind_hashes();  // To the chunk's own beginning: finish() reads the file if more follows it.
  } else if (!overwrote) {
    in_order_ = in_order_before_chunk_;
  }
  position_ = chunk_offset_;
  if (size_bytes() == size_before_chunk_) return {};
  size_bytes_ = size_before_chunk_;
  hole_bytes_ = holes_before_chunk_;
  return disk_.truncate(file_, size_before_chunk_);
}

Result<> Upload::sync() {
  // Before the call, so that bytes which arrive during it are counted for the next one.
  const auto covered = unsynced_bytes_.load(std::memory_order_relaxed);
  auto synced = disk_.sync_data(file_);
  if (!synced) in_doubt_ = true;
  if (in_doubt_) return synced ? Error(Errc::busy, "an earlier sync of the upload failed") : synced;
  unsynced_bytes_.fetch_sub(covered, std::memory_order_relaxed);
  return {};
}

Result<MetaInfo> Upload::finish() {
  if (in_doubt_) return Error(Errc::busy, "a sync of the upload failed");
  if (!in_order_ || hashed_bytes_ != size_bytes()) {
    return hash_blob(disk_, file_, piece_lengths_);
  }
  const auto piece_length = piece_lengths_.for_size(size_bytes());
  auto sums = sums_.sums(piece_length);
  if (!sums) {
    auto summed = sum_pieces(disk_, file_, size_bytes(), piece_length);
    if (!summed) return std::move(summed).error();
    sums = *std::move(summed);
  }
  auto digester = digester_;
  return MetaInfo::make(std::move(digester).finish(), size_bytes(), piece_length, *std::move(sums));
}

}  // namespace orlop
