#include "cli/exit.h"

#include <cstdio>

namespace orlop {

int fail(const Error& error, int code) {
  std::fprintf(stderr, "orlop: %s\n", error.detail().c_str());
  return code;
}

}  // namespace orlop
