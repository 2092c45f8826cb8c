#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orlop {

/// The name of a blob: the SHA-256 of its bytes.
///
/// A value: 32 bytes, trivially copyable, ordered, hashable; pass it by value. Every Digest in the
/// program is well formed, because there are two ways to get one: `parse`, for text from outside,
/// and `Digester`, for bytes that we hashed ourselves. Nothing downstream checks again.
class Digest {
 public:
  static constexpr std::size_t kBytes = 32;

  /// Reads "sha256:" and 64 lower-case hex digits, the one text form (OCI image-spec,
  /// descriptor.md, "Digests": the encoded part must match [a-f0-9]{64}).
  ///
  /// Fails with `invalid_argument` on anything else. The details are the texts of Kraken's
  /// core/digest.go, without the prefix "parse digest: " that its HTTP layer puts before them.
  /// Stricter than Kraken in one place: upper case is refused, because there it names a blob
  /// that can never be committed or found.
  static Result<Digest> parse(std::string_view text);

  /// Reads the 64 digits alone: how Kraken spells a digest in metainfo and in file names.
  static Result<Digest> parse_hex(std::string_view hex);

  explicit constexpr Digest(const std::array<std::uint8_t, kBytes>& bytes) : bytes_(bytes) {}

  const std::array<std::uint8_t, kBytes>& bytes() const noexcept { return bytes_; }

  std::string hex() const;        ///< 64 digits: for paths and keys.
  std::string to_string() const;  ///< "sha256:" + hex(): for people and protocols.

  friend bool operator==(const Digest&, const Digest&) = default;
  friend auto operator<=>(const Digest&, const Digest&) = default;

 private:
  std::array<std::uint8_t, kBytes> bytes_;
};

static_assert(sizeof(Digest) == Digest::kBytes, "a Digest is its bytes: it is a RocksDB key");

}  // namespace orlop

/// The first eight bytes: they are as good as random already. Whoever can upload can choose them
/// by trying, so a table of digests from strangers needs a bound of its own.
template <>
struct std::hash<orlop::Digest> {
  std::size_t operator()(const orlop::Digest& digest) const noexcept {
    std::size_t first;
    static_assert(sizeof first <= orlop::Digest::kBytes);
    std::memcpy(&first, digest.bytes().data(), sizeof first);
    return first;
  }
};
