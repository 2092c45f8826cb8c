#pragma once

#include <cstdint>
#include <vector>

namespace orlop {

/// Lets a thread read a whole file and leave the page cache as it was: what others had brought in
/// stays, what only we needed goes. So a scrub of all blobs does not push the hot ones out.
///
/// Hints to the kernel, like Disk::start_writeback: nothing here can fail, and where the kernel
/// does not know (a mapping is refused) nothing is dropped. One thread at a time. The descriptor
/// stays open for as long as this lives.
class PageCacheFootprint {
 public:
  /// Turns the kernel's reading ahead off for this descriptor (POSIX_FADV_RANDOM): otherwise the
  /// pages behind a range would be there before anybody looks at them.
  explicit PageCacheFootprint(int fd);

  /// Remembers which pages of the range are there now. `offset` is a multiple of 64 KiB, which
  /// every page size divides.
  void before_read(std::uint64_t offset, std::uint64_t length);
  /// Drops those pages of the range that were not.
  void after_read();

 private:
  int fd_;
  std::uint64_t offset_ = 0;
  std::vector<unsigned char> resident_;  // One a page of the range, its lowest bit: mincore(2).
};

}  // namespace orlop
