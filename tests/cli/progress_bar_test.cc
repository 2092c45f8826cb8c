#include "cli/progress_bar.h"

#include <catch2/catch.hpp>

namespace orlop {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;

TEST_CASE("progress text: rate and time come once they mean something") {
  using Seconds = std::chrono::duration<double>;
  CHECK(progress_text(kMiB, 10 * kMiB, 0, Seconds(0.1)) == "1.0 of 10.0 MiB");
  CHECK(progress_text(0, 10 * kMiB, 0, Seconds(10)) == "0.0 of 10.0 MiB");
  CHECK(progress_text(2 * kMiB, 150 * kMiB, 0, Seconds(1)) ==
        "2.0 of 150.0 MiB  2.0 MiB/s  1:14 left");
  CHECK(progress_text(10 * kMiB, 10 * kMiB, 0, Seconds(5)) == "10.0 of 10.0 MiB  2.0 MiB/s");
}

TEST_CASE("progress text: what was there before the start is no speed") {
  using Seconds = std::chrono::duration<double>;
  CHECK(progress_text(101 * kMiB, 200 * kMiB, 100 * kMiB, Seconds(1)) ==
        "101.0 of 200.0 MiB  1.0 MiB/s  1:39 left");
}

}  // namespace
}  // namespace orlop
