#pragma once

#include <cstdint>

namespace orlop {

/// Whether the byte at `offset` is in the page cache, so that reading it does not wait for a disk
/// (preadv2(2), RWF_NOWAIT). Where the file system cannot say (tmpfs), it is.
bool is_resident(int file, std::uint64_t offset);

/// Reads [offset, offset + length) so that it is in the page cache. Blocks. What fails here fails
/// again for whoever sends it.
void read_in(int file, std::uint64_t offset, std::uint64_t length);

}  // namespace orlop
