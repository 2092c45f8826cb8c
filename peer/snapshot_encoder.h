#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "core/digest.h"
#include "core/digester.h"
#include "peer/snapshot_collection.h"
#include "peer/text_buffer.h"

namespace orlop {

/// The version of the format (docs/formats.md, "Peer snapshot").
inline constexpr std::uint64_t kSnapshotVersion = 1;

struct SnapshotEncoderOptions {
  /// A section is encoded again after this time although its revision is the same: a net under
  /// whoever forgets to change a revision.
  std::chrono::nanoseconds reencode_after{std::chrono::minutes(10)};
};

/// Makes a snapshot of collections out of what changed since the last one: the bytes and the digest
/// of each section are kept, and the checksum is the digest of the section digests. So a save costs
/// what changed, not what there is. In a steady state it allocates nothing.
///
/// One thread at a time. The collections outlive it.
class SnapshotEncoder {
 public:
  SnapshotEncoder(std::span<SnapshotCollection* const> collections, const Clock& clock,
                  SnapshotEncoderOptions options = {});

  /// Takes up what changed. False if nothing did, since the last call that said true: then the
  /// snapshot is still the same, with its time.
  bool encode(std::uint64_t saved_at);

  /// The snapshot, in order and without gaps; good until the next `encode`. Empty before the first.
  std::span<const std::string_view> parts() const { return parts_; }
  std::size_t size_bytes() const;

  /// Sections that were encoded to other bytes although nobody said that they changed.
  std::uint64_t forgotten_changes() const { return forgotten_changes_; }
  struct Times {
    std::chrono::nanoseconds encode{0};
    std::chrono::nanoseconds hash{0};
  };
  Times last_times() const { return times_; }  ///< Of the last `encode`.

 private:
  struct Section {
    TextBuffer bytes;
    Digest digest{{}};
    std::uint64_t revision = 0;
    Clock::Steady encoded_at{};
  };
  struct Kept {
    SnapshotCollection* collection;
    std::vector<Section> sections;
    TextBuffer opening;  ///< `,"<name>":[`
    /// Where a section is encoded to; then the two are swapped. One a collection: of like sections
    /// one is as large as the other, so soon none has to grow.
    TextBuffer spare;
  };

  bool take_up(Kept& kept, std::size_t index, Clock::Steady now);
  void assemble(std::uint64_t saved_at);

  const Clock& clock_;
  const SnapshotEncoderOptions options_;
  std::vector<Kept> kept_;
  Digester digester_;
  TextBuffer tail_;
  std::vector<std::string_view> parts_;
  std::size_t stale_left_ = 0;
  std::uint64_t forgotten_changes_ = 0;
  Times times_;
};

/// What the checksum is a digest of, before the tail: so that no digest of something else fits.
inline constexpr std::string_view kSnapshotDomain = "orlop snapshot v1\n";

}  // namespace orlop
