#include "store/blob_hash.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/crc32.h"
#include "core/digester.h"

namespace orlop {
namespace {

/// At full speed, until a stop is requested.
class UntilStopped final : public HashSteps {
 public:
  explicit UntilStopped(const std::stop_token& stop) : stop_(stop) {}

  Result<> before_read(std::uint64_t) override {
    if (stop_.stop_requested()) return Error(Errc::busy, "stopped before all was read");
    return {};
  }
  void after_read(std::size_t) override {}

 private:
  const std::stop_token& stop_;
};

/// Calls `take` with each run of bytes until the file ends; the count is all of them.
template <class Take>
Result<std::uint64_t> read_all(Disk& disk, const UniqueFd& file, HashSteps& steps, Take take) {
  std::vector<std::byte> buffer(HashSteps::kStepBytes);
  std::uint64_t offset = 0;
  for (;;) {
    if (auto go_on = steps.before_read(offset); !go_on) return std::move(go_on).error();
    const auto count = disk.read(file, buffer, offset);
    if (!count) return count.error();
    steps.after_read(*count);
    if (*count == 0) return offset;
    take(std::span<const std::byte>(buffer).first(*count));
    offset += *count;
  }
}

/// The running sums of consecutive pieces of one length.
class PieceRun {
 public:
  explicit PieceRun(std::uint64_t piece_length) : piece_length_(piece_length) {}

  void update(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const auto take = std::min<std::uint64_t>(bytes.size(), piece_length_ - filled_);
      sum_ = crc32(sum_, bytes.first(take));
      filled_ += take;
      bytes = bytes.subspan(take);
      if (filled_ == piece_length_) end_piece();
    }
  }

  std::vector<std::uint32_t> finish() && {
    if (filled_ > 0) end_piece();
    return std::move(sums_);
  }

 private:
  void end_piece() {
    sums_.push_back(std::exchange(sum_, 0));
    filled_ = 0;
  }

  std::uint64_t piece_length_;
  std::uint64_t filled_ = 0;
  std::uint32_t sum_ = 0;
  std::vector<std::uint32_t> sums_;
};

}  // namespace

Result<std::vector<std::uint32_t>> sum_pieces(Disk& disk, const UniqueFd& file,
                                              std::uint64_t size_bytes,
                                              std::uint64_t piece_length) {
  PieceRun run(piece_length);
  const std::stop_token never;
  UntilStopped steps(never);
  const auto read =
      read_all(disk, file, steps, [&](std::span<const std::byte> bytes) { run.update(bytes); });
  if (!read) return read.error();
  if (*read != size_bytes)
    return Error(Errc::corrupt, "the file changed its size while it was read");
  return std::move(run).finish();
}

Result<MetaInfo> hash_blob(Disk& disk, const UniqueFd& file, const PieceLengths& piece_lengths,
                           const std::stop_token& stop) {
  const auto stat = disk.stat(file);
  if (!stat) return stat.error();
  return hash_blob(disk, file, piece_lengths.for_size(stat->size_bytes), stop);
}

Result<MetaInfo> hash_blob(Disk& disk, const UniqueFd& file, std::uint64_t piece_length,
                           const std::stop_token& stop) {
  UntilStopped steps(stop);
  return hash_blob(disk, file, piece_length, steps);
}

Result<MetaInfo> hash_blob(Disk& disk, const UniqueFd& file, std::uint64_t piece_length,
                           HashSteps& steps) {
  const auto stat = disk.stat(file);
  if (!stat) return stat.error();
  Digester digester;
  PieceRun run(piece_length);
  const auto read = read_all(disk, file, steps, [&](std::span<const std::byte> bytes) {
    digester.update(bytes);
    run.update(bytes);
  });
  if (!read) return read.error();
  if (*read != stat->size_bytes) {
    return Error(Errc::corrupt, "the file changed its size while it was read");
  }
  return MetaInfo::make(std::move(digester).finish(), *read, piece_length, std::move(run).finish());
}

}  // namespace orlop
