#include "base/page_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "base/unique_fd.h"
#include "tests/base/temporary_directory.h"

namespace orlop {
namespace {

constexpr std::size_t kBlockBytes = 64 * 1024;

/// A file of a few blocks on a real disk, none of it in the page cache: a tmpfs is page cache only.
class ColdFile {
 public:
  ColdFile() : folder_("/var/tmp") {
    const auto path = (folder_.path() / "file").string();
    file_ = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    REQUIRE(file_.get() >= 0);
    const std::string bytes(4 * kBlockBytes, 'x');
    REQUIRE(::write(file_.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
    REQUIRE(::fsync(file_.get()) == 0);
    REQUIRE(::posix_fadvise(file_.get(), 0, 0, POSIX_FADV_DONTNEED) == 0);
  }

  int fd() const { return file_.get(); }
  /// Whether this file system lets pages go at all.
  bool cold() const { return resident_pages(0) == 0; }

  void read(std::size_t block) const {
    std::string bytes(kBlockBytes, '\0');
    REQUIRE(::pread(fd(), bytes.data(), bytes.size(), static_cast<off_t>(block * kBlockBytes)) ==
            static_cast<ssize_t>(bytes.size()));
  }

  std::size_t resident_pages(std::size_t block) const {
    void* mapped = ::mmap(nullptr, kBlockBytes, PROT_READ, MAP_SHARED, fd(),
                          static_cast<off_t>(block * kBlockBytes));
    REQUIRE(mapped != MAP_FAILED);
    std::vector<unsigned char> pages(kBlockBytes / static_cast<std::size_t>(::getpagesize()));
    REQUIRE(::mincore(mapped, kBlockBytes, pages.data()) == 0);
    ::munmap(mapped, kBlockBytes);
    std::size_t count = 0;
    for (const auto page : pages) count += page & 1U;
    return count;
  }

 private:
  TemporaryDirectory folder_;
  UniqueFd file_;
};

TEST_CASE("page cache footprint: what only we brought in goes, what others had stays") {
  const ColdFile file;
  if (!file.cold()) {
    WARN("/var/tmp keeps every page: nothing to see here");
    return;
  }
  PageCacheFootprint footprint(file.fd());
  file.read(1);
  const auto of_others = file.resident_pages(1);
  REQUIRE(of_others > 0);

  footprint.before_read(0, 3 * kBlockBytes);
  for (std::size_t block = 0; block < 3; ++block) file.read(block);
  REQUIRE(file.resident_pages(0) > 0);
  footprint.after_read();

  CHECK(file.resident_pages(0) == 0);
  CHECK(file.resident_pages(1) == of_others);
  CHECK(file.resident_pages(2) == 0);
}

TEST_CASE("page cache footprint: a second after_read drops nothing more") {
  const ColdFile file;
  PageCacheFootprint footprint(file.fd());
  footprint.before_read(0, kBlockBytes);
  file.read(0);
  footprint.after_read();
  file.read(0);
  footprint.after_read();
  CHECK(file.resident_pages(0) > 0);
}

}  // namespace
}  // namespace orlop
