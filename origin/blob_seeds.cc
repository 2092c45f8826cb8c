#include "origin/blob_seeds.h"

#include <utility>

#include "base/resident.h"
#include "origin/origin.h"

namespace orlop {
namespace {

class BlobSeed final : public Seed {
 public:
  BlobSeed(Origin& origin, OpenBlob blob, InfoHash infohash, std::uint64_t piece_length)
      : origin_(origin), blob_(std::move(blob)), infohash_(infohash), piece_length_(piece_length) {}

  InfoHash infohash() const override { return infohash_; }
  std::uint64_t size_bytes() const override { return blob_.size_bytes; }
  std::uint64_t piece_length() const override { return piece_length_; }
  int descriptor() const override { return blob_.file.get(); }

  Task<Result<std::optional<std::span<const std::byte>>>> ready(std::uint64_t offset,
                                                                std::uint64_t length) override {
    using Bytes = std::optional<std::span<const std::byte>>;
    if (blob_.checked != nullptr && !blob_.checked->verified()) {
      const auto bytes = co_await blob_.checked->read(blob_.file, offset);
      if (!bytes) co_return bytes.error();
      if (!bytes->empty()) co_return Bytes(*bytes);
    }
    if (!is_resident(descriptor(), offset)) {
      const int file = descriptor();
      (void)co_await origin_.pool().run_admitted([=]() -> Result<> {
        read_in(file, offset, length);
        return {};
      });
    }
    co_return Bytes();
  }

  void used() override { origin_.touch(blob_.digest); }

 private:
  Origin& origin_;
  OpenBlob blob_;
  const InfoHash infohash_;
  const std::uint64_t piece_length_;
};

}  // namespace

Task<Result<std::unique_ptr<Seed>>> BlobSeeds::open(Digest digest, std::string_view) {
  const auto metainfo = co_await origin_.metainfo().get(digest);
  if (!metainfo) co_return metainfo.error();
  const auto infohash = (*metainfo)->infohash();
  const auto piece_length = (*metainfo)->piece_length();
  auto blob = co_await origin_.lookup().open(digest);
  if (!blob) co_return std::move(blob).error();
  std::unique_ptr<Seed> seed =
      std::make_unique<BlobSeed>(origin_, *std::move(blob), infohash, piece_length);
  co_return std::move(seed);
}

}  // namespace orlop
