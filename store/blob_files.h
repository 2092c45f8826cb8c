#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/disk.h"
#include "core/digest.h"
#include "store/layout.h"
#include "store/sidecars.h"

namespace orlop {

/// The committed blobs as files: finding, removing, setting aside. It knows nothing of records;
/// whoever changes a digest here holds its claim (store/digest_claims.h).
///
/// Calls block on the disk. Safe from any thread. What it is constructed with outlives it.
class BlobFiles {
 public:
  BlobFiles(Disk& disk, const Clock& clock, const Layout& layout)
      : disk_(disk), clock_(clock), layout_(layout) {}

  /// `not_found` if there is no such regular file.
  Result<UniqueFd> open(Digest digest) const;
  Result<FileStat> stat(Digest digest) const;

  /// What a Kraken origin left beside the blob's file of this size. As `read_sidecars`.
  Result<Sidecars> sidecars(Digest digest, std::uint64_t size_bytes) const;

  /// Removes the blob and its sidecars. When it returns, no power cut brings the blob back.
  /// Succeeds if it was not there. Open descriptors go on reading (unlink(2)).
  Result<> remove(Digest digest);

  /// Takes a bad file out of the way and keeps it as evidence, in the blob's own folder under
  /// another name, which Kraken ignores too: "data.quarantined-<ns>", the time in ns since 1970 or,
  /// so that evidence is never replaced and the newest is always the last, one more than that of
  /// the newest there. Of more than `kEvidenceMax` the oldest are removed. `not_found` if there is
  /// no file.
  Result<> quarantine(Digest digest);

  /// How much evidence is kept of one digest: a disk that rots again and again must not fill up.
  static constexpr std::size_t kEvidenceMax = 4;
  static constexpr std::string_view kEvidencePrefix = "data.quarantined-";

  /// Files set aside since this was made.
  std::uint64_t quarantined() const { return quarantined_; }

 private:
  Disk& disk_;
  const Clock& clock_;
  const Layout& layout_;
  std::atomic<std::uint64_t> quarantined_ = 0;
};

}  // namespace orlop
