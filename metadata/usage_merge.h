#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace rocksdb {
class MergeOperator;
}

namespace orlop {

/// A change of the space that blobs take; the sum of all changes is the space.
struct UsageDelta {
  std::int64_t blobs = 0;
  std::int64_t blocks = 0;  ///< Of 512 bytes.

  friend bool operator==(const UsageDelta&, const UsageDelta&) = default;
};

/// 16 bytes: two little-endian i64 (docs/formats.md, "Metadata").
std::string encode_usage(UsageDelta delta);
/// Nothing if it is not 16 bytes.
std::optional<UsageDelta> decode_usage(std::string_view bytes);

/// Lets RocksDB add a delta to what is stored, so that a writer need not read it first: no two
/// writers can lose each other's change, and none has to wait.
std::shared_ptr<rocksdb::MergeOperator> make_usage_merge();

}  // namespace orlop
