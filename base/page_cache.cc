#include "base/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>

namespace orlop {
namespace {

std::uint64_t page_bytes() {
  static const auto bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

PageCacheFootprint::PageCacheFootprint(int fd) : fd_(fd) {
  (void)::posix_fadvise(fd_, 0, 0, POSIX_FADV_RANDOM);
}

void PageCacheFootprint::before_read(std::uint64_t offset, std::uint64_t length) {
  offset_ = offset;
  resident_.clear();
  if (length == 0) return;
  // The mapping is never read, so a file that is cut short meanwhile cannot raise SIGBUS.
  void* mapped = ::mmap(nullptr, length, PROT_READ, MAP_SHARED, fd_, static_cast<off_t>(offset));
  if (mapped == MAP_FAILED) return;
  resident_.resize((length + page_bytes() - 1) / page_bytes());
  if (::mincore(mapped, length, resident_.data()) != 0) resident_.clear();
  (void)::munmap(mapped, length);
}

void PageCacheFootprint::after_read() {
  const auto page = page_bytes();
  for (std::size_t first = 0; first < resident_.size();) {
    std::size_t end = first;
    while (end < resident_.size() && (resident_[end] & 1) == 0) ++end;
    if (end > first) {
      (void)::posix_fadvise(fd_, static_cast<off_t>(offset_ + first * page),
                            static_cast<off_t>((end - first) * page), POSIX_FADV_DONTNEED);
    }
    first = end + 1;
  }
  resident_.clear();
}

}  // namespace orlop
