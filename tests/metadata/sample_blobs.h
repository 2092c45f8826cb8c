#pragma once

#include <catch2/catch.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/digester.h"
#include "metadata/catalogue.h"

namespace orlop {

/// Blobs to record, told apart by a number.
inline Digest sample_digest(int number) { return digest_of("blob " + std::to_string(number)); }

inline Fingerprint sample_fingerprint(int number) {
  return {static_cast<std::uint64_t>(number), 8, 1'796'000'000'000'000'000, 1};
}

inline BlobRecord sample_blob(int number, std::uint64_t blocks = 8) {
  return {8, blocks, 1'796'000'000, false, false, sample_fingerprint(number)};
}

inline MetaInfo sample_metainfo(Digest digest) {
  auto made = MetaInfo::make(digest, 8, 4, {1, 2});
  REQUIRE(made);
  return *std::move(made);
}

inline std::unique_ptr<Catalogue> open_catalogue(CatalogueOptions options) {
  auto opened = Catalogue::open(std::move(options));
  INFO((opened ? std::string() : opened.error().detail()));
  REQUIRE(opened);
  return *std::move(opened);
}

/// Commits these blobs as one group.
inline Result<> commit_group(Catalogue& catalogue, const std::vector<int>& numbers,
                             std::uint32_t committer = 0, std::uint64_t blocks = 8) {
  std::vector<MetaInfo> metainfos;
  std::vector<CommitEntry> group;
  metainfos.reserve(numbers.size());
  for (const int number : numbers) {
    const auto digest = sample_digest(number);
    metainfos.push_back(sample_metainfo(digest));
    group.push_back({sample_blob(number, blocks), &metainfos.back(), std::nullopt, digest});
  }
  return catalogue.commit(group, committer);
}

inline Result<> commit_one(Catalogue& catalogue, int number, std::uint64_t blocks = 8) {
  return commit_group(catalogue, {number}, 0, blocks);
}

inline bool has_fingerprint(const Catalogue& catalogue, int number) {
  const auto record = catalogue.blob(sample_digest(number));
  REQUIRE(record);
  return record->fingerprint.has_value();
}

template <class T>
bool fails_with(const Result<T>& result, Errc code) {
  return !result && result.error().code() == code;
}

}  // namespace orlop
