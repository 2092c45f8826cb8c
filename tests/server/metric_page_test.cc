#include "server/metric_page.h"

#include <catch2/catch.hpp>

namespace orlop {
namespace {

constexpr std::array<std::uint64_t, 2> kBounds = {100'000, 1'000'000'000};

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST_CASE("metric page: a family stands once, with its help and type before its series") {
  MetricPage page;
  page.counter("a_total", "What a is.")
      .add(std::uint64_t{3}, {{"x", "1"}})
      .add(std::uint64_t{4}, {{"x", "2"}});
  page.gauge("b", "What b is.").add(0.5);
  CHECK(page.text() ==
        "# HELP a_total What a is.\n# TYPE a_total counter\na_total{x=\"1\"} 3\n"
        "a_total{x=\"2\"} 4\n# HELP b What b is.\n# TYPE b gauge\nb 0.5\n");
}

TEST_CASE("metric page: large counts lose no digit") {
  MetricPage page;
  page.counter("a_total", "A.").add(std::uint64_t{9'007'199'254'740'991});
  CHECK(contains(page.text(), "a_total 9007199254740991\n"));
}

TEST_CASE("metric page: a histogram is cumulative, in its unit, and +Inf is the count") {
  Histogram<Tally, kBounds> histogram;
  for (const auto value : {50'000U, 100'000U, 500'000'000U}) histogram.add(value);
  histogram.add(std::uint64_t{4'000'000'000});
  MetricPage page;
  page.histogram("h_seconds", "H.").add(histogram.read(), kPerSecond, {{"x", "1"}});
  const auto text = page.text();
  CHECK(contains(text, "h_seconds_bucket{x=\"1\",le=\"0.0001\"} 2\n"));
  CHECK(contains(text, "h_seconds_bucket{x=\"1\",le=\"1\"} 3\n"));
  CHECK(contains(text, "h_seconds_bucket{x=\"1\",le=\"+Inf\"} 4\n"));
  CHECK(contains(text, "h_seconds_count{x=\"1\"} 4\n"));
  CHECK(contains(text, "h_seconds_sum{x=\"1\"} 4.50015\n"));
}

TEST_CASE("metric page: a label's value is escaped") {
  MetricPage page;
  page.gauge("a", "A.").add(1.0, {{"x", "q\" b\\ n\n"}});
  CHECK(contains(page.text(), "a{x=\"q\\\" b\\\\ n\\n\"} 1\n"));
}

}  // namespace
}  // namespace orlop
