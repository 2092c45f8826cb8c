#pragma once

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
  /// another name ("data.quarantined-<time in ns>"), which Kraken ignores too.
  Result<> quarantine(Digest digest);

 private:
  Disk& disk_;
  const Clock& clock_;
  const Layout& layout_;
};

}  // namespace orlop
