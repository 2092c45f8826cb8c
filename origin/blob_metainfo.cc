#include "origin/blob_metainfo.h"

#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "store/blob_hash.h"

namespace orlop {

Task<Result<MetaInfoPtr>> BlobMetaInfo::get(Digest digest) {
  auto cached = cache_.get(digest, MetadataKind::torrent_meta);
  if (!cached) co_return std::move(cached).error();
  if (*cached && is_trusted(*cached)) co_return *std::move(cached);
  co_return co_await look_up(digest, *std::move(cached));
}

/// `cached` has not been looked after for a while, or is null.
Task<Result<MetaInfoPtr>> BlobMetaInfo::look_up(Digest digest, MetaInfoPtr cached) {
  const auto version = cache_.version(digest);
  if (const auto blob = memory_.find(digest)) {
    co_return held(digest, cache_.insert(blob->metainfo, version, now()));
  }
  const auto here = co_await lookup_.stat(digest);
  if (!here) {
    if (here.error().code() == Errc::not_found) cache_.erase(digest);
    co_return here.error();
  }
  if (!here->verified && here->record.fingerprint) {
    const auto verified = co_await lookup_.stat_verified(digest);
    if (!verified) co_return verified.error();
  }
  if (cached && cache_.version(digest) == version) co_return std::move(cached);

  const auto size_bytes = here->record.size_bytes;
  auto object = co_await pool_.run_admitted([&] { return recorded(digest, size_bytes, version); });
  if (!object) co_return std::move(object).error();
  co_return held(digest, *std::move(object));
}

/// The digest's object as it is cached now, or else this one.
MetaInfoPtr BlobMetaInfo::held(Digest digest, SharedMetaInfo object) {
  auto cached = cache_.get(digest, MetadataKind::torrent_meta);
  if (cached && *cached) return *std::move(cached);
  return MetaInfoPtr(std::move(object));
}

/// From the catalogue and into the cache, or made from the bytes.
Result<SharedMetaInfo> BlobMetaInfo::recorded(Digest digest, std::uint64_t size_bytes,
                                              std::uint64_t version) {
  auto found = catalogue_.metainfo(digest);
  if (found) return cache_.insert(*std::move(found), version, now());
  const auto why = found.error().code();
  if (why != Errc::not_found && why != Errc::corrupt) return std::move(found).error();

  auto made = cut(digest, size_bytes, piece_lengths_.for_size(size_bytes));
  if (!made) return std::move(made).error();
  log_warn("metainfo_remade", {{"digest", digest.to_string()}, {"reason", found.error().detail()}});
  if (auto put = catalogue_.put_metainfo(*made); !put) return std::move(put).error();
  // Not cached: nobody holds the claim, so it may be overwritten by now. The next read caches it.
  return std::make_shared<const MetaInfo>(*std::move(made));
}

void BlobMetaInfo::remember(MetaInfo metainfo) {
  const auto version = cache_.version(metainfo.digest());
  (void)cache_.insert(std::move(metainfo), version, now());
}

/// False for the first who asks after a while: that one looks, and the others go on meanwhile.
bool BlobMetaInfo::is_trusted(const MetaInfoPtr& cached) const {
  const auto time = now();
  auto seen_at = cached.seen_at().load(std::memory_order_relaxed);
  if (time - seen_at < kTrustedFor.count()) return true;
  return !cached.seen_at().compare_exchange_strong(seen_at, time, std::memory_order_relaxed);
}

/// In milliseconds. It wraps after 49 days, and so do differences.
std::uint32_t BlobMetaInfo::now() const {
  return static_cast<std::uint32_t>(clock_.steady().time_since_epoch() /
                                    std::chrono::milliseconds(1));
}

Task<Result<>> BlobMetaInfo::overwrite(Digest digest, std::uint64_t piece_length) {
  const auto here = co_await lookup_.stat_verified(digest);
  if (!here) co_return here.error();
  const auto claim = co_await lookup_.claim(digest);
  if (!claim) co_return claim.error();
  co_return co_await pool_.run_admitted([&]() -> Result<> {
    auto made = cut(digest, here->size_bytes, piece_length);
    if (!made) return std::move(made).error();
    return catalogue_.put_metainfo(*made);
  });
}

Result<MetaInfo> BlobMetaInfo::cut(Digest digest, std::uint64_t size_bytes,
                                   std::uint64_t piece_length) {
  // Before the sums are made: they would take four bytes a piece.
  if (piece_length == 0 || piece_count(size_bytes, piece_length) > kPieceCountMax) {
    return Error(Errc::invalid_argument, "a piece length of " + std::to_string(piece_length) +
                                             " cuts " + std::to_string(size_bytes) +
                                             " bytes into more than " +
                                             std::to_string(kPieceCountMax) + " pieces");
  }
  const auto file = files_.open(digest);
  if (!file) return file.error();
  auto sums = sum_pieces(disk_, *file, size_bytes, piece_length);
  if (!sums) return std::move(sums).error();
  return MetaInfo::make(digest, size_bytes, piece_length, *std::move(sums));
}

}  // namespace orlop
