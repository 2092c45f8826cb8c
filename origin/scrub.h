#pragma once

#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/disk.h"
#include "base/stop_signal.h"
#include "core/piece.h"
#include "metadata/catalogue.h"
#include "origin/blob_settlement.h"
#include "origin/figures.h"
#include "store/blob_files.h"
#include "store/digest_claims.h"

namespace orlop {

struct ScrubOptions {
  /// In so much time every blob is read once (`scrub.period`). 0: never.
  std::chrono::nanoseconds period{0};
  /// Never faster than this (`scrub.bytes_per_second_max`), even if a pass takes longer then. >= 1.
  std::uint64_t bytes_per_second_max = std::uint64_t{64} << 20;
};

/// Reads all blobs again and again, slowly, and hashes them: finds the rot that leaves inode, size
/// and times alone, which no reader's check can see (design, section 5).
///
/// A *pass* goes through the records in the order of their digests. A blob whose bytes are right
/// gets a new fingerprint if it had none or another one, and its recorded sums are mended. One
/// whose bytes are wrong is distrusted at once, read a second time under its claim, and set aside.
/// One whose file is gone is forgotten. One that changes while it is read, or cannot be read, is
/// left to the next pass.
///
/// It is in nobody's way: the speed is what is left of the pass divided by what is left of nine
/// tenths of the period, at least `kBytesPerSecondMin`; its thread has the idle class of I/O; pages
/// that it brought into the page cache leave it again. How far it is lies in the database, written
/// every ten seconds, so a restart goes on where it was, with the blob that it was in.
///
/// What it is constructed with outlives it. `status` is safe from any thread.
class Scrub {
 public:
  static constexpr std::uint64_t kBytesPerSecondMin = std::uint64_t{4} << 20;
  /// What a blob costs besides its bytes, in bytes: opening a file is a seek or two.
  static constexpr std::uint64_t kBlobCostBytes = 16 * 1024;

  Scrub(Disk& disk, const Clock& clock, Catalogue& catalogue, BlobFiles& files,
        BlobSettlement& settlement, DigestClaims& claims, const PieceLengths& piece_lengths,
        StopSignal& stop, ScrubOptions options)
      : disk_(disk),
        clock_(clock),
        catalogue_(catalogue),
        files_(files),
        settlement_(settlement),
        claims_(claims),
        piece_lengths_(piece_lengths),
        stop_(stop),
        options_(options) {}

  /// Pass after pass, each when it is due, until it is stopped; returns within a second of that.
  /// Returns at once if the period is 0. For a thread of its own, which it makes one of idle I/O.
  void run();

  /// Begins a pass, or goes on with the one that was begun, and ends it. False if it was stopped
  /// first. Fails if the database cannot be read or written.
  Result<bool> pass();

  /// How long until the next pass is due; 0 if one is now, or is not finished.
  Result<std::chrono::nanoseconds> due_in() const;

  /// One line, for people.
  std::string status() const;
  /// The same as numbers.
  ScrubFigures figures() const;

 private:
  class Steps;

  enum class Verdict : std::uint8_t { right, bad, skipped, stopped };

  Result<ScrubRecord> recorded() const;
  Result<> begin(ScrubRecord& record);
  Result<> save(const ScrubRecord& record);
  void show(const ScrubRecord& record);
  Result<Verdict> examine(const SurveyedBlob& blob, std::uint64_t& bytes);
  Result<Verdict> examine_file(Digest digest, const BlobRecord& record, UniqueFd file,
                               std::uint64_t& bytes);
  Result<Verdict> settle_bad(Digest digest);
  Result<Verdict> settle_missing(Digest digest);
  Verdict skipped(Digest digest, const Error& reason) const;

  std::uint64_t left_bytes(const ScrubRecord& record) const;
  std::uint64_t rate(const ScrubRecord& record) const;
  void set_pace(const ScrubRecord& record);
  /// Waits until so much may be read. False if it was stopped.
  bool wait_turn();
  void spend(std::uint64_t bytes);

  std::int64_t now_seconds() const;

  Disk& disk_;
  const Clock& clock_;
  Catalogue& catalogue_;
  BlobFiles& files_;
  BlobSettlement& settlement_;
  DigestClaims& claims_;
  const PieceLengths& piece_lengths_;
  StopSignal& stop_;
  const ScrubOptions options_;

  // Of the thread that runs.
  Clock::Steady free_at_{};  ///< When what was read so far has been paid for.
  Clock::Steady saved_at_{};
  std::uint64_t rate_ = kBytesPerSecondMin;

  mutable std::mutex mutex_;
  // Under mutex_, for status().
  std::optional<ScrubRecord> shown_;
  std::uint64_t shown_rate_ = 0;
  std::int64_t shown_ends_at_ = 0;
};

}  // namespace orlop
