#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/tally.h"

namespace orlop {

/// Builds what GET /metrics answers: Prometheus' text format, version 0.0.4
/// (https://prometheus.io/docs/instrumenting/exposition_formats/). First a family, then its series:
///
///     page.counter("orlop_evicted_blobs_total", "Blobs that clean-up removed.").add(3);
///
/// Names and labels are ours alone. What a client sent never becomes one: each new label value is a
/// series that Prometheus keeps for weeks, so strangers could fill its memory.
class MetricPage {
 public:
  struct Label {
    std::string_view name;
    std::string value;
  };
  using Labels = std::vector<Label>;

  MetricPage();
  ~MetricPage();
  MetricPage(const MetricPage&) = delete;
  MetricPage& operator=(const MetricPage&) = delete;

  static constexpr std::string_view kContentType = "text/plain; version=0.0.4; charset=utf-8";

  // Each begins a family; its name is not used twice.
  MetricPage& counter(std::string_view name, std::string_view help);  ///< `name` ends in _total.
  MetricPage& gauge(std::string_view name, std::string_view help);
  MetricPage& histogram(std::string_view name, std::string_view help);

  /// One series of the family that was begun last. No labels twice in one family.
  MetricPage& add(double value, const Labels& labels = {});
  MetricPage& add(std::uint64_t value, const Labels& labels = {}) {
    return add(static_cast<double>(value), labels);
  }
  /// The same of a histogram. Its bounds and its sum are divided by `per_unit` (durations: 1e9).
  MetricPage& add(const Distribution& values, double per_unit, const Labels& labels = {});

  std::string text() const;

 private:
  struct Families;
  std::unique_ptr<Families> families_;
};

/// Nanoseconds in the unit of all our durations, the second.
inline constexpr double kPerSecond = 1e9;

}  // namespace orlop
