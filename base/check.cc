#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace orlop::detail {

void check_failed(const char* condition, const char* file, int line) noexcept {
  std::fprintf(stderr, "orlop: check failed: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace orlop::detail
