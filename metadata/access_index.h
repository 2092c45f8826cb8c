#pragma once

#include <cstdint>
#include <optional>

#include "core/digest.h"
#include "metadata/open_database.h"

namespace orlop {

// The families `access` and `accessed` (docs/formats.md, "Access"), which are changed together.

/// Hours since 1970, by the catalogue's clock.
struct UseHours {
  std::uint32_t last = 0;   ///< When the blob was last used.
  std::uint32_t first = 0;  ///< When it came here.

  friend bool operator==(const UseHours&, const UseHours&) = default;
};

/// What stands in the index. Nothing for a blob that has no record.
Result<std::optional<UseHours>> recorded_use(const OpenDatabase& open, const Digest& digest);

/// Puts `to` in the place of `from`, which is what stands there now.
void move_use(rocksdb::WriteBatch& batch, const OpenDatabase& open, const Digest& digest,
              const std::optional<UseHours>& from, const UseHours& to);

void erase_use(rocksdb::WriteBatch& batch, const OpenDatabase& open, const Digest& digest,
               const UseHours& from);

}  // namespace orlop
