#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orlop {

/// One line on standard error that says how far a long piece of work is, how fast it goes and how
/// long it will still take. Shows nothing where that is no terminal.
///
/// One thread at a time.
class ProgressBar {
 public:
  /// `label` goes before it: a stranger's file name, say, so control bytes are escaped.
  explicit ProgressBar(std::string_view label = {});
  /// Leaves the line empty.
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Draws, but not more often than a person can read.
  void show(std::uint64_t done, std::uint64_t total);
  /// Empties the line, for text that is to stand there.
  void clear();
  bool visible() const { return visible_; }

 private:
  using Clock = std::chrono::steady_clock;

  const bool visible_;
  const std::string label_;
  const Clock::time_point begun_at_ = Clock::now();
  std::uint64_t begun_with_ = 0;  ///< What was done already: it says nothing about the speed.
  std::optional<Clock::time_point> drawn_at_;
};

/// "12.3 of 45.6 MiB  102.3 MiB/s  0:12 left", without what cannot be known yet.
std::string progress_text(std::uint64_t done, std::uint64_t total, std::uint64_t begun_with,
                          std::chrono::duration<double> elapsed);

}  // namespace orlop
