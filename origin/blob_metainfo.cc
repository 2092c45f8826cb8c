#include "origin/blob_metainfo.h"

#include <memory>
#include <string>
#include <utility>

#include "base/log.h"
#include "store/blob_hash.h"

namespace orlop {

Task<Result<MetaInfoPtr>> BlobMetaInfo::get(Digest digest) {
  const auto here = co_await lookup_.stat(digest);
  if (!here) co_return here.error();
  if (!here->verified && here->record.fingerprint) {
    const auto verified = co_await lookup_.stat_verified(digest);
    if (!verified) co_return verified.error();
  }
  const auto size_bytes = here->record.size_bytes;
  co_return co_await pool_.run_admitted([&]() -> Result<MetaInfoPtr> {
    auto recorded = catalogue_.metainfo(digest);
    if (recorded) return std::make_shared<const MetaInfo>(*std::move(recorded));
    const auto why = recorded.error().code();
    if (why != Errc::not_found && why != Errc::corrupt) return std::move(recorded).error();

    auto made = cut(digest, size_bytes, piece_lengths_.for_size(size_bytes));
    if (!made) return std::move(made).error();
    log_warn("metainfo_remade",
             {{"digest", digest.to_string()}, {"reason", recorded.error().detail()}});
    if (auto put = catalogue_.put_metainfo(*made); !put) return std::move(put).error();
    return std::make_shared<const MetaInfo>(*std::move(made));
  });
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
