#include "base/resident.h"

#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <vector>

namespace orlop {

bool is_resident(int file, std::uint64_t offset) {
  std::byte byte;
  iovec into = {.iov_base = &byte, .iov_len = 1};
  const auto count = ::preadv2(file, &into, 1, static_cast<off_t>(offset), RWF_NOWAIT);
  return count >= 0 || errno != EAGAIN;
}

void read_in(int file, std::uint64_t offset, std::uint64_t length) {
  constexpr std::size_t kScrapBytes = 256 * 1024;
  std::vector<std::byte> scrap(kScrapBytes);
  while (length > 0) {
    const auto want = static_cast<std::size_t>(std::min<std::uint64_t>(length, scrap.size()));
    const auto count = ::pread(file, scrap.data(), want, static_cast<off_t>(offset));
    if (count <= 0) return;
    offset += static_cast<std::uint64_t>(count);
    length -= static_cast<std::uint64_t>(count);
  }
}

}  // namespace orlop
