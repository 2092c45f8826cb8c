#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "core/digest.h"
#include "core/metainfo.h"

namespace orlop {

// The records of the metadata store and their encoded form: a MessagePack array whose first
// element is the version, 1 (docs/formats.md, "Metadata"). Encoding cannot fail. Decoding takes
// the whole of `bytes` or answers `corrupt`: a record of another version or shape, a cut one, and
// one with bytes behind it are all refused.

/// What stat(2) said of a blob's file when its bytes were last hashed. Equal to what it says now:
/// the bytes are those that were hashed, as far as anyone can tell without reading them.
struct Fingerprint {
  std::uint64_t inode = 0;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  ///< mtime, since 1970.
  std::int64_t changed_ns = 0;   ///< ctime, since 1970.

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

/// That a blob is here. It is, if its file is too (design, section 3).
struct BlobRecord {
  std::uint64_t size_bytes = 0;
  std::uint64_t blocks = 0;       ///< Of 512 bytes: the space that the file takes. 2^63 at most.
  std::int64_t committed_at = 0;  ///< Unix seconds.
  bool backed = false;            ///< A backend has it, so eviction may remove it.
  /// A Kraken origin still owed it to a backend when it was adopted (`_persist`): nobody may remove
  /// it. A commit of the same digest does not carry it over.
  bool pinned = false;
  std::optional<Fingerprint> fingerprint;  ///< Absent: hash the bytes before you trust them.

  friend bool operator==(const BlobRecord&, const BlobRecord&) = default;
};

std::string encode_blob(const BlobRecord& record);
Result<BlobRecord> decode_blob(std::string_view bytes);

/// The digest is not in the value, it is the key.
std::string encode_metainfo(const MetaInfo& metainfo);
Result<MetaInfo> decode_metainfo(Digest digest, std::string_view bytes);

/// What has to be done for a blob after its commit. The numbers are in keys on disk.
enum class TaskKind : std::uint8_t {
  write_back = 1,  ///< Copy to the namespace's backend.
  replicate = 2,   ///< Copy to the ring's other owners.
};

/// One piece of durable work. At most one exists for a kind, a digest and a namespace, which are
/// its key; the rest is its value. (`Task` is taken: it is a coroutine, base/asio.h.)
struct TaskRecord {
  TaskKind kind;
  Digest digest;
  std::string name_space;
  std::chrono::nanoseconds delay{0};  ///< Not to be started earlier than this after `created_at`.
  std::int64_t created_at = 0;        ///< Unix seconds.

  friend bool operator==(const TaskRecord&, const TaskRecord&) = default;
};

/// The value only: `delay` and `created_at`. The key is spelled in metadata/keys.h.
std::string encode_task(const TaskRecord& task);
/// `key` is the whole key of the entry, `bytes` its value.
Result<TaskRecord> decode_task(std::string_view key, std::string_view bytes);

/// How far the rereading of all blobs is (origin/scrub.h). One record for the whole store.
struct ScrubRecord {
  std::int64_t started_at = 0;                             ///< Of this pass, unix seconds.
  std::optional<std::int64_t> finished_at = std::nullopt;  ///< Absent: it still goes on.
  std::optional<Digest> cursor = std::nullopt;             ///< All up to this digest are done.
  std::uint64_t blobs = 0;                                 ///< That were read whole and are right.
  std::uint64_t bytes = 0;                                 ///< Of those.
  std::uint64_t bad = 0;      ///< Set aside, or gone without a removal.
  std::uint64_t skipped = 0;  ///< Changing or unreadable just then: the next pass.

  friend bool operator==(const ScrubRecord&, const ScrubRecord&) = default;
};

std::string encode_scrub(const ScrubRecord& record);
Result<ScrubRecord> decode_scrub(std::string_view bytes);

}  // namespace orlop
