#include "core/metainfo.h"

#include <limits>

#include "base/json_writer.h"
#include "core/bencode.h"
#include "core/sha1.h"

namespace orlop {
namespace {

constexpr std::uint64_t kInt64Max = std::numeric_limits<std::int64_t>::max();

Error refused(std::string detail) { return Error(Errc::invalid_argument, std::move(detail)); }

std::string canonical_json(const MetaInfo& info) {
  std::string out;
  out.reserve(160 + 11 * info.piece_sums().size());
  out += "{\"Info\":{\"PieceLength\":";
  append_json_number(out, info.piece_length());
  out += ",\"PieceSums\":";
  if (info.piece_sums().empty()) {
    out += "null";  // What Go makes of a nil slice, and Kraken's empty blob has one.
  } else {
    auto separator = '[';
    for (const auto sum : info.piece_sums()) {
      out += separator;
      append_json_number(out, std::uint64_t{sum});
      separator = ',';
    }
    out += ']';
  }
  out += ",\"Name\":\"";
  out += info.digest().hex();
  out += "\",\"Length\":";
  append_json_number(out, info.size_bytes());
  out += "}}";
  return out;
}

}  // namespace

Result<MetaInfo> MetaInfo::make(Digest digest, std::uint64_t size_bytes, std::uint64_t piece_length,
                                std::vector<std::uint32_t> piece_sums) {
  if (piece_length == 0) return refused("piece length must be positive");
  if (piece_length > kInt64Max) return refused("piece length is above int64");
  if (size_bytes > kInt64Max) return refused("blob size is above int64");

  const auto count = piece_count(size_bytes, piece_length);
  if (count > kPieceCountMax) {
    return refused("more than " + std::to_string(kPieceCountMax) +
                   " pieces: " + std::to_string(size_bytes) + " bytes in pieces of " +
                   std::to_string(piece_length));
  }
  if (count != piece_sums.size()) {
    return refused(std::to_string(piece_sums.size()) + " piece sums for " + std::to_string(count) +
                   " pieces");
  }
  return MetaInfo(digest, size_bytes, piece_length, std::move(piece_sums));
}

MetaInfo::MetaInfo(Digest digest, std::uint64_t size_bytes, std::uint64_t piece_length,
                   std::vector<std::uint32_t> piece_sums)
    : digest_(digest),
      size_bytes_(size_bytes),
      piece_length_(piece_length),
      piece_sums_(std::move(piece_sums)),
      json_(canonical_json(*this)),
      infohash_(sha1_of(bencode_info(digest_, size_bytes_, piece_length_, piece_sums_))) {}

}  // namespace orlop
