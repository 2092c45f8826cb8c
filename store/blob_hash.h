#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "base/disk.h"
#include "core/digest.h"
#include "core/metainfo.h"
#include "core/piece.h"

namespace orlop {

/// Is told of each read of a long hash, and may end it: for those who read so slowly that nobody is
/// disturbed, and must stop at once when the process does.
class HashSteps {
 public:
  /// At most so much is read at once.
  static constexpr std::size_t kStepBytes = std::size_t{1} << 20;

  virtual ~HashSteps() = default;

  /// `kStepBytes` are about to be read at `offset`, or what is left of the file. Takes its time. A
  /// failure ends the hash, which answers it.
  virtual Result<> before_read(std::uint64_t offset) = 0;
  /// So many were read.
  virtual void after_read(std::size_t count) = 0;
};

/// Reads a whole file and says what it is: its digest and how it is cut, as if it were the blob of
/// that digest. For bytes that were not hashed while they arrived: uploads after a restart or out
/// of order, files found without a record, files that may have changed. Blocks for the time that
/// reading and hashing takes (about 0.6 s a GB), or until a stop is requested: then `busy`, within
/// the time of reading 1 MiB.
Result<MetaInfo> hash_blob(Disk& disk, const UniqueFd& file, const PieceLengths& piece_lengths,
                           const std::stop_token& stop = {});
/// The same, cut into pieces of this length. Pre: `piece_length` is positive.
Result<MetaInfo> hash_blob(Disk& disk, const UniqueFd& file, std::uint64_t piece_length,
                           const std::stop_token& stop = {});

/// The same, for as long as `steps` makes it.
Result<MetaInfo> hash_blob(Disk& disk, const UniqueFd& file, std::uint64_t piece_length,
                           HashSteps& steps);

/// The sums of a file cut at any piece length, by reading it once.
Result<std::vector<std::uint32_t>> sum_pieces(Disk& disk, const UniqueFd& file,
                                              std::uint64_t size_bytes, std::uint64_t piece_length);

}  // namespace orlop
