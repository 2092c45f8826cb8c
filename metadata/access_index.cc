#include "metadata/access_index.h"

#include <string>

#include "metadata/keys.h"

namespace orlop {

Result<std::optional<UseHours>> recorded_use(const OpenDatabase& open, const Digest& digest) {
  rocksdb::PinnableSlice bytes;
  if (auto got = open.get(Family::accessed, digest_key(digest), bytes); !got) {
    if (got.error().code() == Errc::not_found) return std::optional<UseHours>();
    return std::move(got).error();
  }
  const auto value = to_view(bytes);
  if (value.size() != kAccessedBytes) return Error(Errc::corrupt, "accessed " + digest.to_string());
  return std::optional(UseHours{.last = read_u32(value), .first = read_u32(value.substr(4))});
}

void move_use(rocksdb::WriteBatch& batch, const OpenDatabase& open, const Digest& digest,
              const std::optional<UseHours>& from, const UseHours& to) {
  if (from == to) return;
  if (from && from->last != to.last) {
    batch.Delete(open.handle(Family::access), to_slice(access_key(from->last, digest)));
  }
  std::string value;
  append_u32(value, to.last);
  append_u32(value, to.first);
  batch.Put(open.handle(Family::access), to_slice(access_key(to.last, digest)), rocksdb::Slice());
  batch.Put(open.handle(Family::accessed), to_slice(digest_key(digest)), to_slice(value));
}

void erase_use(rocksdb::WriteBatch& batch, const OpenDatabase& open, const Digest& digest,
               const UseHours& from) {
  batch.Delete(open.handle(Family::access), to_slice(access_key(from.last, digest)));
  batch.Delete(open.handle(Family::accessed), to_slice(digest_key(digest)));
}

}  // namespace orlop
