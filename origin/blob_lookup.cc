#include "origin/blob_lookup.h"

#include <string>
#include <utility>

#include "origin/catalogue_journal.h"

namespace orlop {
namespace {

Error outcome_unknown(Digest digest) {
  return Error(Errc::busy, digest.to_string() + " is being written or verified; ask again");
}

Error absent(Digest digest) { return Error(Errc::not_found, digest.to_string() + " is not here"); }

}  // namespace

BlobLookup::BlobLookup(BlobSettlement& settlement, DigestClaims& claims, OpenBlobs& open_blobs,
                       Disk& disk, const Clock& clock, WorkerPool& pool, BlobLookupOptions options)
    : settlement_(settlement),
      claims_(claims),
      open_blobs_(open_blobs),
      disk_(disk),
      clock_(clock),
      pool_(pool),
      checked_memory_(options.checked_bytes_max),
      verifications_([this](Digest digest, const std::stop_token& stop) {
        return settlement_.verify(digest, stop);
      }) {}

Task<Result<BlobLookup::Sight>> BlobLookup::look_up(Digest digest, For purpose) {
  for (;;) {
    if (const auto pending = claims_.pending(digest)) {
      if (!co_await pending->wait_for(kOutcomeWaitMax)) co_return outcome_unknown(digest);
    }
    auto found = co_await pool_.run([&] { return settlement_.inspect(digest); });
    if (!found) co_return std::move(found).error();
    // A commit that began meanwhile may have shown us a blob that is not durable yet.
    if (claims_.pending(digest)) continue;
    Sight sight{.found = *std::move(found), .verification = nullptr};
    const auto presence = sight.found.presence;
    if (presence == Presence::absent || presence == Presence::here) co_return std::move(sight);
    if (presence == Presence::unverified && purpose != For::vouching) {
      sight.verification = verifications_.find(digest);  // Only what somebody will hash.
      if (sight.verification != nullptr) {
        if (purpose == For::reading || sight.verification->durable) co_return std::move(sight);
        const auto synced =
            co_await pool_.run_admitted([&] { return make_durable(digest, sight); });
        if (!synced) co_return synced.error();
        co_return std::move(sight);
      }
    }

    const auto claimed = claims_.try_claim(digest);
    if (!claimed) continue;
    const auto settled =
        co_await pool_.run_admitted([&] { return settle_claimed(digest, purpose); });
    if (!settled) co_return settled.error();
  }
}

Result<> BlobLookup::make_durable(Digest digest, const Sight& sight) {
  if (auto synced = settlement_.sync(digest, sight.found.file); !synced) return synced;
  sight.verification->durable = true;
  return {};
}

Result<> BlobLookup::settle_claimed(Digest digest, For purpose) {
  if (purpose != For::vouching) {
    const auto presence = settlement_.settle_for_reading(digest);
    if (!presence) return presence.error();
    if (*presence != Presence::unverified || verifications_.begin(digest) != nullptr) return {};
    // Too many wait already: this one is hashed before it is read.
  }
  const auto here = settlement_.settle(digest);
  if (!here) return here.error();
  return {};
}

Task<Result<OpenBlob>> BlobLookup::open_for(Digest digest, For purpose) {
  // Before the look-up sees whether the digest is claimed: then clean-up sees the reader.
  auto pin = open_blobs_.pin(digest);
  auto sight = co_await look_up(digest, purpose);
  if (!sight) co_return std::move(sight).error();
  auto& found = sight->found;
  if (found.presence == Presence::absent) co_return absent(digest);
  OpenBlob blob(digest, found.stat.size_bytes, std::move(found.file), std::move(pin));
  if (found.presence == Presence::unverified) {
    const CheckedDownloadParts parts{.disk = disk_,
                                     .claims = claims_,
                                     .settlement = settlement_,
                                     .pool = pool_,
                                     .memory = checked_memory_};
    blob.checked = std::make_unique<CheckedDownload>(parts, fingerprint_of(found.stat),
                                                     std::move(found.metainfo),
                                                     std::move(sight->verification));
    co_return std::move(blob);
  }
  if (blob.size_bytes > 0 && blob.size_bytes <= kInlineBytesMax) {
    const auto filled = co_await pool_.run_admitted([&]() -> Result<> {
      blob.bytes.resize(blob.size_bytes);
      const auto count = disk_.read(blob.file, blob.bytes, 0);
      if (!count) return count.error();
      if (*count != blob.size_bytes) return Error(Errc::corrupt, "the file became shorter");
      return {};
    });
    if (!filled) co_return filled.error();
  }
  co_return std::move(blob);
}

Task<Result<FoundBlob>> BlobLookup::stat(Digest digest) {
  const auto sight = co_await look_up(digest, For::telling);
  if (!sight) co_return sight.error();
  if (sight->found.presence == Presence::absent) co_return absent(digest);
  co_return FoundBlob{.record = *sight->found.record,
                      .verified = sight->found.presence == Presence::here};
}

Task<Result<BlobRecord>> BlobLookup::stat_verified(Digest digest) {
  const auto sight = co_await look_up(digest, For::vouching);
  if (!sight) co_return sight.error();
  if (sight->found.presence == Presence::absent) co_return absent(digest);
  co_return *sight->found.record;
}

Task<Result<DigestClaims::Claim>> BlobLookup::claim(Digest digest) {
  const auto give_up_at = clock_.steady() + kOutcomeWaitMax;
  for (;;) {
    if (auto claimed = claims_.try_claim(digest)) co_return *std::move(claimed);
    if (const auto pending = claims_.pending(digest)) co_await pending->wait_for(kOutcomeWaitMax);
    if (clock_.steady() >= give_up_at) co_return outcome_unknown(digest);
  }
}

}  // namespace orlop
