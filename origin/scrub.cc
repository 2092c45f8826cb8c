#include "origin/scrub.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>
#include <utility>

#include "base/idle_io.h"
#include "base/log.h"
#include "base/page_cache.h"
#include "origin/catalogue_journal.h"
#include "store/blob_hash.h"

namespace orlop {
namespace {

using std::chrono::nanoseconds;

constexpr std::size_t kPageBlobs = 256;
constexpr auto kSaveEvery = std::chrono::seconds(10);
constexpr auto kRetryAfter = std::chrono::seconds(30);
/// The wall clock may be set while we wait for the next pass.
constexpr auto kLookAtClockEvery = std::chrono::minutes(1);
/// Shorter waits are put off and added up.
constexpr auto kWaitMin = std::chrono::milliseconds(5);
/// What was not used in time is lost, so that no burst follows a pause.
constexpr auto kUnusedMax = std::chrono::seconds(1);

std::string iso_time(std::int64_t unix_seconds) {
  const auto time = static_cast<std::time_t>(unix_seconds);
  std::tm parts = {};
  std::array<char, 32> text = {};
  if (::gmtime_r(&time, &parts) == nullptr) return "?";
  return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

}  // namespace

/// One file's reading: at the pace or not, and without a trace in the page cache.
class Scrub::Steps final : public HashSteps {
 public:
  enum class Speed : std::uint8_t { paced, full };

  Steps(Scrub& scrub, const UniqueFd& file, std::uint64_t size_bytes, Speed speed)
      : scrub_(scrub), footprint_(file.get()), size_bytes_(size_bytes), speed_(speed) {}

  Result<> before_read(std::uint64_t offset) override {
    const bool go_on = speed_ == Speed::paced ? scrub_.wait_turn() : !scrub_.stop_.stopped();
    if (!go_on) return Error(Errc::busy, "stopped");
    const auto left = size_bytes_ - std::min(size_bytes_, offset);
    footprint_.before_read(offset, std::min<std::uint64_t>(kStepBytes, left));
    return {};
  }
  void after_read(std::size_t count) override {
    footprint_.after_read();
    scrub_.spend(count);
  }

 private:
  Scrub& scrub_;
  PageCacheFootprint footprint_;
  const std::uint64_t size_bytes_;
  const Speed speed_;
};

void Scrub::run() {
  if (options_.period <= nanoseconds(0)) return;
  use_disk_when_idle();
  if (const auto record = recorded()) show(*record);
  while (!stop_.stopped()) {
    const auto due = due_in();
    if (due && *due > nanoseconds(0)) {
      stop_.wait_for(std::min<nanoseconds>(*due, kLookAtClockEvery));
      continue;
    }
    auto passed = due ? pass() : Result<bool>(due.error());
    if (passed) continue;
    log_warn("scrub_interrupted", {{"reason", passed.error().detail()}});
    stop_.wait_for(kRetryAfter);
  }
}

Result<ScrubRecord> Scrub::recorded() const {
  auto record = catalogue_.scrub();
  if (record && *record) {
    // The clock was set back, or a stranger wrote it: the pass counts as begun now.
    (*record)->started_at = std::clamp<std::int64_t>((*record)->started_at, 0, now_seconds());
    return **record;
  }
  if (!record && record.error().code() != Errc::corrupt) return std::move(record).error();
  if (!record) log_warn("scrub_record_unreadable", {{"reason", record.error().detail()}});
  // As if a pass had ended long ago: the next begins now.
  return ScrubRecord{.started_at = 0, .finished_at = 0};
}

Result<nanoseconds> Scrub::due_in() const {
  const auto record = recorded();
  if (!record) return record.error();
  if (!record->finished_at) return nanoseconds(0);
  const auto since = std::chrono::seconds(now_seconds() - record->started_at);
  const auto period = std::chrono::ceil<std::chrono::seconds>(options_.period);
  return nanoseconds(std::max(period - since, std::chrono::seconds(0)));
}

Result<bool> Scrub::pass() {
  auto record = recorded();
  if (!record) return std::move(record).error();
  if (auto begun = begin(*record); !begun) return std::move(begun).error();
  for (;;) {
    const auto page = catalogue_.survey(record->cursor, kPageBlobs);
    if (!page) return page.error();
    if (page->empty()) break;
    for (const auto& blob : *page) {
      set_pace(*record);
      std::uint64_t bytes = 0;
      const auto verdict = examine(blob, bytes);
      if (!verdict) {
        (void)save(*record);  // The reason for this may be that nothing can be saved.
        return verdict.error();
      }
      if (*verdict == Verdict::stopped) {
        if (auto saved = save(*record); !saved) return std::move(saved).error();
        return false;
      }
      record->cursor = blob.digest;
      if (*verdict == Verdict::right) ++record->blobs;
      if (*verdict == Verdict::right) record->bytes += bytes;
      if (*verdict == Verdict::bad) ++record->bad;
      if (*verdict == Verdict::skipped) ++record->skipped;
      if (clock_.steady() - saved_at_ < kSaveEvery) continue;
      if (auto saved = save(*record); !saved) return std::move(saved).error();
    }
  }
  record->finished_at = now_seconds();
  if (auto saved = save(*record); !saved) return std::move(saved).error();
  log_info("scrub_finished", {{"blobs", record->blobs},
                              {"bytes", record->bytes},
                              {"bad", record->bad},
                              {"skipped", record->skipped},
                              {"seconds", *record->finished_at - record->started_at}});
  return true;
}

Result<> Scrub::begin(ScrubRecord& record) {
  const bool goes_on = !record.finished_at;
  if (!goes_on) record = ScrubRecord{.started_at = now_seconds()};
  free_at_ = clock_.steady();
  if (auto saved = save(record); !saved) return saved;
  set_pace(record);
  const auto ends_in = left_bytes(record) / rate_;
  log_info(goes_on ? "scrub_resumed" : "scrub_started",
           {{"bytes_left", left_bytes(record)}, {"bytes_per_second", rate_}, {"seconds", ends_in}});
  return {};
}

Result<> Scrub::save(const ScrubRecord& record) {
  show(record);
  saved_at_ = clock_.steady();
  return catalogue_.put_scrub(record);
}

void Scrub::show(const ScrubRecord& record) {
  const std::lock_guard lock(mutex_);
  shown_ = record;
}

Result<Scrub::Verdict> Scrub::examine(const SurveyedBlob& blob, std::uint64_t& bytes) {
  if (!blob.record) return skipped(blob.digest, blob.record.error());
  if (!wait_turn()) return Verdict::stopped;
  spend(kBlobCostBytes);
  auto file = files_.open(blob.digest);
  if (file) return examine_file(blob.digest, *blob.record, *std::move(file), bytes);
  if (file.error().code() == Errc::not_found) return settle_missing(blob.digest);
  return skipped(blob.digest, file.error());
}

Result<Scrub::Verdict> Scrub::examine_file(Digest digest, const BlobRecord& record, UniqueFd file,
                                           std::uint64_t& bytes) {
  const auto before = disk_.stat(file);
  if (!before) return skipped(digest, before.error());
  // Cut as it is recorded, so that the sums can be compared too.
  const auto recorded = catalogue_.metainfo(digest);
  const auto length =
      recorded ? recorded->piece_length() : piece_lengths_.for_size(before->size_bytes);
  Steps steps(*this, file, before->size_bytes, Steps::Speed::paced);
  const auto metainfo = hash_blob(disk_, file, length, steps);
  if (!metainfo && stop_.stopped()) return Verdict::stopped;
  if (!metainfo) return skipped(digest, metainfo.error());
  const auto after = disk_.stat(file);
  if (!after) return skipped(digest, after.error());
  if (fingerprint_of(*after) != fingerprint_of(*before)) {
    return skipped(digest, Error(Errc::busy, "it changed while it was read"));
  }
  if (metainfo->digest() != digest) return settle_bad(digest);

  bytes = metainfo->size_bytes();
  const bool sums_right = recorded && recorded->infohash() == metainfo->infohash();
  if (record.fingerprint == fingerprint_of(*after) && sums_right) return Verdict::right;
  const auto claim = claims_.try_claim(digest);
  if (!claim) return skipped(digest, Error(Errc::busy, "somebody is changing it"));
  const auto confirmed = settlement_.confirm(*metainfo, *after);
  if (!confirmed) return confirmed.error();
  return *confirmed ? Verdict::right : Verdict::skipped;
}

/// It was read wrong once. The second look is under the claim, so nobody replaces the file between
/// it and the verdict. Readers wait for that, so it is not paced.
Result<Scrub::Verdict> Scrub::settle_bad(Digest digest) {
  // First of all: whoever asks before the verdict, or if there never is one, has to look at the
  // bytes.
  if (auto distrusted = catalogue_.drop_fingerprint(digest); !distrusted) {
    return std::move(distrusted).error();
  }
  const auto claim = claims_.try_claim(digest);
  if (!claim) return skipped(digest, Error(Errc::busy, "somebody is changing it"));
  auto file = files_.open(digest);
  if (!file) return skipped(digest, file.error());
  const auto stat = disk_.stat(*file);
  if (!stat) return skipped(digest, stat.error());
  const auto recorded = catalogue_.metainfo(digest);
  const auto length =
      recorded ? recorded->piece_length() : piece_lengths_.for_size(stat->size_bytes);
  Steps steps(*this, *file, stat->size_bytes, Steps::Speed::full);
  const auto metainfo = hash_blob(disk_, *file, length, steps);
  if (!metainfo && stop_.stopped()) return Verdict::stopped;
  if (!metainfo) return skipped(digest, metainfo.error());
  if (metainfo->digest() == digest) {
    log_error("blob_read_wrong_once", {{"digest", digest.to_string()}});
    const auto confirmed = settlement_.confirm(*metainfo, *stat);
    if (!confirmed) return confirmed.error();
    return Verdict::skipped;
  }
  if (auto aside = settlement_.set_aside(digest, *metainfo); !aside)
    return std::move(aside).error();
  return Verdict::bad;
}

Result<Scrub::Verdict> Scrub::settle_missing(Digest digest) {
  const auto claim = claims_.try_claim(digest);
  if (!claim) return Verdict::skipped;
  const auto record = catalogue_.blob(digest);
  if (!record && record.error().code() == Errc::not_found) return Verdict::skipped;  // Removed.
  const auto here = settlement_.settle(digest);  // Drops the record, and says so.
  if (!here) return skipped(digest, here.error());
  return *here ? Verdict::skipped : Verdict::bad;
}

Scrub::Verdict Scrub::skipped(Digest digest, const Error& reason) const {
  log_warn("scrub_skipped", {{"digest", digest.to_string()}, {"reason", reason.detail()}});
  return Verdict::skipped;
}

std::uint64_t Scrub::left_bytes(const ScrubRecord& record) const {
  const auto usage = catalogue_.usage();
  if (!usage) return 0;
  const auto all = usage->blocks * 512 + usage->blobs * kBlobCostBytes;
  const auto done = record.bytes + (record.blobs + record.bad + record.skipped) * kBlobCostBytes;
  return all - std::min(all, done);
}

std::uint64_t Scrub::rate(const ScrubRecord& record) const {
  const auto period = std::chrono::duration<double>(options_.period).count();
  const auto passed = static_cast<double>(now_seconds() - record.started_at);
  // A tenth of the period is for what comes meanwhile, and for restarts.
  const auto left_seconds = std::max(0.9 * period - std::clamp(passed, 0.0, period), 1.0);
  const auto wanted = std::min(static_cast<double>(left_bytes(record)) / left_seconds,
                               static_cast<double>(options_.bytes_per_second_max));
  return std::min(std::max(static_cast<std::uint64_t>(wanted), kBytesPerSecondMin),
                  options_.bytes_per_second_max);
}

void Scrub::set_pace(const ScrubRecord& record) {
  rate_ = std::max<std::uint64_t>(rate(record), 1);
  const auto ends_at = now_seconds() + static_cast<std::int64_t>(left_bytes(record) / rate_);
  const std::lock_guard lock(mutex_);
  shown_ = record;
  shown_rate_ = rate_;
  shown_ends_at_ = ends_at;
}

bool Scrub::wait_turn() {
  const auto wait = free_at_ - clock_.steady();
  if (wait < kWaitMin) return !stop_.stopped();
  return !stop_.wait_for(wait);
}

void Scrub::spend(std::uint64_t bytes) {
  const std::chrono::duration<double> cost(static_cast<double>(bytes) / static_cast<double>(rate_));
  free_at_ = std::max(free_at_, clock_.steady() - kUnusedMax) +
             std::chrono::duration_cast<nanoseconds>(cost);
}

std::int64_t Scrub::now_seconds() const {
  return std::chrono::duration_cast<std::chrono::seconds>(clock_.wall().time_since_epoch()).count();
}

std::string Scrub::status() const {
  if (options_.period <= nanoseconds(0)) return "scrub: off";
  const std::lock_guard lock(mutex_);
  if (!shown_) return "scrub: not begun";
  auto text = "scrub: since " + iso_time(shown_->started_at) + " " + std::to_string(shown_->blobs) +
              " blobs of " + std::to_string(shown_->bytes) + " bytes, " +
              std::to_string(shown_->bad) + " bad, " + std::to_string(shown_->skipped) +
              " skipped; ";
  if (shown_->finished_at) return text + "ended " + iso_time(*shown_->finished_at);
  return text + "at " + std::to_string(shown_rate_) + " bytes/s it ends " +
         iso_time(shown_ends_at_);
}

ScrubFigures Scrub::figures() const {
  ScrubFigures figures;
  figures.on = options_.period > nanoseconds(0);
  const std::lock_guard lock(mutex_);
  if (!shown_) return figures;
  figures.started_at = shown_->started_at;
  figures.finished = shown_->finished_at.has_value();
  figures.blobs = shown_->blobs;
  figures.bytes = shown_->bytes;
  figures.bad = shown_->bad;
  figures.skipped = shown_->skipped;
  if (figures.finished) {
    figures.done = 1;
  } else {
    figures.bytes_per_second = shown_rate_;
    // Digests are spread evenly, so where it is among them says how far it is.
    const auto& cursor = shown_->cursor;
    if (cursor) figures.done = (cursor->bytes()[0] * 256 + cursor->bytes()[1]) / 65536.0;
  }
  return figures;
}

}  // namespace orlop
