#include "server/metric_page.h"

#include <prometheus/metric_family.h>
#include <prometheus/text_serializer.h>

#include <limits>
#include <utility>

#include "base/check.h"

namespace orlop {
namespace {

prometheus::MetricFamily family(std::string_view name, std::string_view help,
                                prometheus::MetricType type) {
  prometheus::MetricFamily family;
  family.name = name;
  family.help = help;
  family.type = type;
  return family;
}

std::vector<prometheus::ClientMetric::Label> to_prometheus(const MetricPage::Labels& labels) {
  std::vector<prometheus::ClientMetric::Label> made;
  made.reserve(labels.size());
  for (const auto& [name, value] : labels) made.push_back({std::string(name), value});
  return made;
}

}  // namespace

struct MetricPage::Families {
  std::vector<prometheus::MetricFamily> all;
};

MetricPage::MetricPage() : families_(std::make_unique<Families>()) {}
MetricPage::~MetricPage() = default;

MetricPage& MetricPage::counter(std::string_view name, std::string_view help) {
  families_->all.push_back(family(name, help, prometheus::MetricType::Counter));
  return *this;
}

MetricPage& MetricPage::gauge(std::string_view name, std::string_view help) {
  families_->all.push_back(family(name, help, prometheus::MetricType::Gauge));
  return *this;
}

MetricPage& MetricPage::histogram(std::string_view name, std::string_view help) {
  families_->all.push_back(family(name, help, prometheus::MetricType::Histogram));
  return *this;
}

MetricPage& MetricPage::add(double value, const Labels& labels) {
  ORLOP_CHECK(!families_->all.empty());
  auto& current = families_->all.back();
  ORLOP_CHECK(current.type != prometheus::MetricType::Histogram);
  prometheus::ClientMetric series;
  series.label = to_prometheus(labels);
  if (current.type == prometheus::MetricType::Counter) series.counter.value = value;
  if (current.type == prometheus::MetricType::Gauge) series.gauge.value = value;
  current.metric.push_back(std::move(series));
  return *this;
}

MetricPage& MetricPage::add(const Distribution& values, double per_unit, const Labels& labels) {
  ORLOP_CHECK(!families_->all.empty());
  auto& current = families_->all.back();
  ORLOP_CHECK(current.type == prometheus::MetricType::Histogram);
  prometheus::ClientMetric series;
  series.label = to_prometheus(labels);
  auto& histogram = series.histogram;
  histogram.sample_sum = static_cast<double>(values.sum) / per_unit;
  // Not a count of its own: the counts move while they are read, and these two must agree.
  std::uint64_t so_far = 0;
  for (std::size_t i = 0; i < values.bounds.size(); ++i) {
    so_far += values.counts[i];
    histogram.bucket.push_back({so_far, static_cast<double>(values.bounds[i]) / per_unit});
  }
  histogram.sample_count = so_far + values.counts[values.bounds.size()];
  histogram.bucket.push_back({histogram.sample_count, std::numeric_limits<double>::infinity()});
  current.metric.push_back(std::move(series));
  return *this;
}

std::string MetricPage::text() const {
  return prometheus::TextSerializer().Serialize(families_->all);
}

}  // namespace orlop
