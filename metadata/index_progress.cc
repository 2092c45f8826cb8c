#include "metadata/index_progress.h"

#include <array>

#include "metadata/msgpack.h"

namespace orlop {
namespace {

constexpr std::uint64_t kVersion = 1;

/// The numbers behind the folder and the shards, in the order of their bytes.
constexpr std::array kCounts = {&IndexProgress::recorded,  &IndexProgress::hashed,
                                &IndexProgress::known,     &IndexProgress::quarantined,
                                &IndexProgress::ghosts,    &IndexProgress::foreign,
                                &IndexProgress::unreadable};
constexpr std::size_t kFields = 3 + kCounts.size();

}  // namespace

std::string encode_index_progress(const IndexProgress& progress) {
  std::string bytes;
  MsgpackWriter writer(bytes);
  writer.write_array(kFields);
  writer.write_uint(kVersion);
  writer.write_bin(progress.folder);
  writer.write_uint(progress.shards_done);
  for (const auto count : kCounts) writer.write_uint(progress.*count);
  return bytes;
}

Result<IndexProgress> decode_index_progress(std::string_view bytes) {
  MsgpackReader reader(bytes);
  const auto fields = reader.read_array();
  const auto version = reader.read_uint();
  if (reader.failed()) return reader.finish().error();
  if (version != kVersion || fields != kFields) {
    return Error(Errc::corrupt, "a record of the indexer that is not known here");
  }
  IndexProgress progress;
  progress.folder = reader.read_bin();
  const auto shards_done = reader.read_uint();
  for (const auto count : kCounts) progress.*count = reader.read_uint();
  if (auto finished = reader.finish(); !finished) return std::move(finished).error();
  if (shards_done > IndexProgress::kShards) {
    return Error(Errc::corrupt, "more shards than there are");
  }
  progress.shards_done = static_cast<std::uint32_t>(shards_done);
  return progress;
}

}  // namespace orlop
