#include "server/process_figures.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace orlop {
namespace {

// Places in /proc/self/stat behind the name in brackets, which is field 2 (proc(5)).
constexpr std::size_t kUserTicks = 14 - 3;
constexpr std::size_t kSystemTicks = 15 - 3;
constexpr std::size_t kThreads = 20 - 3;
constexpr std::size_t kStartTicks = 22 - 3;
constexpr std::size_t kVirtualBytes = 23 - 3;
constexpr std::size_t kResidentPages = 24 - 3;
constexpr std::size_t kFields = kResidentPages + 1;

/// Seconds since 1970 at which the machine was started, by the clock as it is now. Asked once: the
/// wall clock is corrected now and then, and a start must not move.
double boot_seconds() {
  timespec up = {};
  ::clock_gettime(CLOCK_BOOTTIME, &up);
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  return now.count() - static_cast<double>(up.tv_sec) - static_cast<double>(up.tv_nsec) / 1e9;
}

std::uint64_t open_descriptors() {
  std::error_code error;
  const std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return 0;
  // Without the one that looks.
  return static_cast<std::uint64_t>(std::distance(begin(entries), end(entries))) - 1;
}

}  // namespace

std::optional<ProcessFigures> process_figures() {
  std::ifstream file("/proc/self/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  std::istringstream rest(text.substr(text.rfind(')') + 2));
  std::string state;  // Field 3, the only one that is no number.
  rest >> state;
  std::array<std::uint64_t, kFields> fields = {};
  for (std::size_t i = 1; i < kFields; ++i) {
    std::int64_t number = 0;  // Some are negative.
    if (!(rest >> number)) return std::nullopt;
    fields[i] = static_cast<std::uint64_t>(number);
  }
  static const double boot = boot_seconds();
  const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  rlimit descriptors = {};
  ::getrlimit(RLIMIT_NOFILE, &descriptors);
  return ProcessFigures{
      .cpu_seconds = static_cast<double>(fields[kUserTicks] + fields[kSystemTicks]) / ticks,
      .start_seconds = boot + static_cast<double>(fields[kStartTicks]) / ticks,
      .resident_bytes =
          fields[kResidentPages] * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)),
      .virtual_bytes = fields[kVirtualBytes],
      .descriptors = open_descriptors(),
      .descriptors_max = descriptors.rlim_cur,
      .threads = fields[kThreads]};
}

}  // namespace orlop
