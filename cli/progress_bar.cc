#include "cli/progress_bar.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/log.h"

namespace orlop {
namespace {

constexpr auto kDrawEvery = std::chrono::milliseconds(150);
constexpr std::size_t kCells = 30;
/// To the start of the line, and clear it (ECMA-48, CR and EL).
constexpr const char* kClearLine = "\r\x1b[K";
constexpr double kMebibyte = 1024.0 * 1024.0;
/// Before that, a rate says more about the start than about the work.
constexpr std::chrono::duration<double> kRateAfter{0.5};

template <class... Values>
std::string format(const char* pattern, Values... values) {
  std::array<char, 96> text;
  const int length = std::snprintf(text.data(), text.size(), pattern, values...);
  return std::string(text.data(), std::min<std::size_t>(static_cast<std::size_t>(length), 95));
}

}  // namespace

std::string progress_text(std::uint64_t done, std::uint64_t total, std::uint64_t begun_with,
                          std::chrono::duration<double> elapsed) {
  auto text = format("%.1f of %.1f MiB", static_cast<double>(done) / kMebibyte,
                     static_cast<double>(total) / kMebibyte);
  if (elapsed < kRateAfter || done <= begun_with) return text;
  const auto rate = static_cast<double>(done - begun_with) / elapsed.count();
  text += format("  %.1f MiB/s", rate / kMebibyte);
  if (total > done) {
    const auto left =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(total - done) / rate));
    text += format("  %llu:%02llu left", static_cast<unsigned long long>(left / 60),
                   static_cast<unsigned long long>(left % 60));
  }
  return text;
}

ProgressBar::ProgressBar(std::string_view label)
    : visible_(::isatty(STDERR_FILENO) == 1),
      label_(label.empty() ? "" : log_escaped(label) + " ") {}

void ProgressBar::show(std::uint64_t done, std::uint64_t total) {
  if (!visible_) return;
  const auto now = Clock::now();
  if (!drawn_at_) begun_with_ = done;
  if (drawn_at_ && now - *drawn_at_ < kDrawEvery) return;
  drawn_at_ = now;
  total = std::max({total, done, std::uint64_t{1}});
  const auto cells =
      static_cast<std::size_t>(static_cast<double>(done) / static_cast<double>(total) * kCells);
  const auto bar = std::string(cells, '#') + std::string(kCells - cells, '.');
  const auto text = progress_text(done, total, begun_with_, now - begun_at_);
  std::fprintf(stderr, "%s%s[%s] %s", kClearLine, label_.c_str(), bar.c_str(), text.c_str());
  std::fflush(stderr);
}

void ProgressBar::clear() {
  if (!visible_ || !drawn_at_) return;
  std::fputs(kClearLine, stderr);
  std::fflush(stderr);
}

}  // namespace orlop
