#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "core/digest.h"
#include "core/metainfo.h"

namespace orlop {

/// A whole blob whose bytes are what its name says. Immutable.
struct MemoryBlob {
  std::vector<std::byte> bytes;
  SharedMetaInfo metainfo;  ///< Of these bytes; not null.
};

/// What a memory store holds at a moment.
struct MemoryStoreUse {
  std::uint64_t blobs = 0;
  std::uint64_t bytes = 0;  ///< What they take, and not only what they are long.
};

/// Blobs that are here before they are on the disk (design, section 7). Not a cache: an entry
/// leaves when the disk has the blob durably, and for no other reason. Client uploads never enter.
///
/// Safe from any thread; never blocks on I/O.
class MemoryStore {
 public:
  /// `bytes_max` bounds what the blobs take, by the capacity of their buffers. 0: none enters.
  explicit MemoryStore(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// False, and nothing done, if there is no room: the blob goes to the disk instead. True if it is
  /// here now, or was before. The caller has compared the bytes with their digest.
  bool put(MemoryBlob blob);

  /// Null if it is not here. Whoever has it may read it to its end, also when it leaves.
  std::shared_ptr<const MemoryBlob> find(const Digest& digest) const;
  bool has(const Digest& digest) const { return find(digest) != nullptr; }

  /// The disk has the blob durably. Succeeds whether or not it is here.
  void remove(const Digest& digest);

  MemoryStoreUse use() const;

 private:
  const std::uint64_t bytes_max_;
  mutable std::mutex mutex_;  // Guards what follows.
  std::unordered_map<Digest, std::shared_ptr<const MemoryBlob>> blobs_;
  std::uint64_t bytes_ = 0;
};

}  // namespace orlop
