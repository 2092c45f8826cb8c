#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/disk.h"
#include "core/digest.h"
#include "core/metainfo.h"

namespace orlop {

// What a Kraken origin leaves beside `data` (docs/formats.md, "Sidecars"; Kraken's
// lib/store/metadata). Kraken writes these files in place and syncs nothing, so after a crash one
// can be empty, short or a mixture: whatever is not whole is *broken*, and broken counts as absent.

inline constexpr std::string_view kTorrentMetaName = "_torrentmeta";
inline constexpr std::string_view kPersistName = "_persist";
inline constexpr std::string_view kLastAccessTimeName = "_last_access_time";

/// The longest `_torrentmeta` that is read: 760,000 pieces, which is 3 TB in pieces of 4 MiB.
/// Reading takes fourteen times as much memory (core/metainfo.h); beyond it the blob is hashed.
inline constexpr std::size_t kTorrentMetaBytesMax = 8 << 20;

/// Go's strconv.ParseBool: `1 t T TRUE true True` and `0 f F FALSE false False`. Nothing on any
/// other text, also with a newline behind it, and on none.
std::optional<bool> parse_persist(std::string_view bytes);
/// "true" or "false".
std::string encode_persist(bool persist);

/// Unix seconds: the first zig-zag varint (Go's binary.Varint); what follows it is ignored.
/// Nothing if it does not end, or does not fit in 64 bits.
std::optional<std::int64_t> parse_last_access_time(std::string_view bytes);
/// Eight bytes, zeros behind the varint, as Kraken writes it; more for times of more than 55 bits,
/// which Kraken cannot write at all.
std::string encode_last_access_time(std::int64_t unix_seconds);

/// The sidecars of one blob, as far as they are there and whole.
struct Sidecars {
  std::optional<MetaInfo> metainfo;              ///< Of this digest and this size.
  std::optional<bool> persist;                   ///< True: Kraken still has to write it back.
  std::optional<std::int64_t> last_access_time;  ///< Unix seconds; any number, from a stranger.
  std::vector<std::string_view> broken;          ///< Names of those that are there and not whole.

  /// Whether Kraken would refuse to delete the blob. It does so too when `_persist` is broken
  /// (lib/store/base/file_op.go), and the likeliest reason for that is a crash while writing
  /// "true".
  bool pinned() const;
};

/// Reads the sidecars of the blob in `folder` whose file has `size_bytes`. A `_torrentmeta` of
/// another digest or size is broken. Links, FIFOs and directories are as good as absent: they are
/// neither followed nor waited for. `busy` if it cannot be told now: out of descriptors or memory.
/// Blocks on the disk. Safe from any thread.
Result<Sidecars> read_sidecars(Disk& disk, const std::filesystem::path& folder, Digest digest,
                               std::uint64_t size_bytes);

}  // namespace orlop
