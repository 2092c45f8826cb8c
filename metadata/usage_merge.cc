#include "metadata/usage_merge.h"

#include <rocksdb/merge_operator.h>

#include <cstddef>

namespace orlop {
namespace {

constexpr std::size_t kUsageBytes = 16;

void append_i64(std::string& out, std::int64_t number) {
  auto bits = static_cast<std::uint64_t>(number);
  for (int i = 0; i < 8; ++i, bits >>= 8) out += static_cast<char>(bits & 0xff);
}

std::int64_t read_i64(std::string_view bytes) {
  std::uint64_t bits = 0;
  for (std::size_t i = 8; i-- > 0;) bits = bits << 8 | static_cast<std::uint8_t>(bytes[i]);
  return static_cast<std::int64_t>(bits);
}

/// Wraps around where int64_t must not: bytes at rest can hold any two numbers.
std::int64_t sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

class UsageMerge final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "orlop.usage"; }

  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* existing, const rocksdb::Slice& value,
             std::string* merged, rocksdb::Logger*) const override {
    const auto delta = decode_usage({value.data(), value.size()});
    auto before = std::optional(UsageDelta());
    if (existing != nullptr) before = decode_usage({existing->data(), existing->size()});
    if (!delta || !before) return false;  // RocksDB then reports a corruption.
    *merged = encode_usage({sum(before->blobs, delta->blobs), sum(before->blocks, delta->blocks)});
    return true;
  }
};

}  // namespace

std::string encode_usage(UsageDelta delta) {
  std::string bytes;
  bytes.reserve(kUsageBytes);
  append_i64(bytes, delta.blobs);
  append_i64(bytes, delta.blocks);
  return bytes;
}

std::optional<UsageDelta> decode_usage(std::string_view bytes) {
  if (bytes.size() != kUsageBytes) return std::nullopt;
  return UsageDelta{read_i64(bytes), read_i64(bytes.substr(8))};
}

std::shared_ptr<rocksdb::MergeOperator> make_usage_merge() {
  return std::make_shared<UsageMerge>();
}

}  // namespace orlop
