#pragma once

#include <cstdint>
#include <optional>

namespace orlop {

/// What the kernel says of this process, as every Prometheus client reports it.
struct ProcessFigures {
  double cpu_seconds = 0;    ///< User and system, since the start.
  double start_seconds = 0;  ///< Since 1970.
  std::uint64_t resident_bytes = 0;
  std::uint64_t virtual_bytes = 0;
  std::uint64_t descriptors = 0;      ///< Open now.
  std::uint64_t descriptors_max = 0;  ///< RLIMIT_NOFILE, the soft one.
  std::uint64_t threads = 0;
};

/// Reads /proc/self (proc(5)). Nothing if there is no /proc. Blocks for some microseconds and, with
/// tens of thousands of open descriptors, milliseconds.
std::optional<ProcessFigures> process_figures();

}  // namespace orlop
