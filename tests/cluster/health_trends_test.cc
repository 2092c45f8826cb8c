#include "cluster/health_trends.h"

#include <catch2/catch.hpp>

namespace orlop {
namespace {

void record(HealthTrends& trends, const std::string& host, std::string_view results) {
  for (const char result : results) trends.record(host, result == '+');
}

HealthTrends trends_of(const std::vector<std::string>& hosts) {
  HealthTrends trends({.fails = 3, .passes = 2});
  trends.set_hosts(hosts);
  return trends;
}

TEST_CASE("health trends: a new host is healthy, and an unknown one is not") {
  const auto trends = trends_of({"a"});
  CHECK(trends.healthy("a"));
  CHECK_FALSE(trends.healthy("b"));
}

TEST_CASE("health trends: it takes that many failures in a row to leave") {
  auto trends = trends_of({"a"});
  record(trends, "a", "--+--+--");
  CHECK(trends.healthy("a"));
  CHECK(trends.record("a", false));
  CHECK_FALSE(trends.healthy("a"));
  CHECK_FALSE(trends.record("a", false));
}

TEST_CASE("health trends: it takes that many successes in a row to come back") {
  auto trends = trends_of({"a"});
  record(trends, "a", "----------+-+-+");
  CHECK_FALSE(trends.healthy("a"));
  CHECK(trends.record("a", true));
  CHECK(trends.healthy("a"));
}

TEST_CASE("health trends: a host that left and comes back has to pass first") {
  auto trends = trends_of({"a", "b"});
  record(trends, "b", "++");
  trends.set_hosts({"a"});
  CHECK_FALSE(trends.healthy("b"));
  CHECK_FALSE(trends.record("b", true));
  trends.set_hosts({"a", "b"});
  CHECK_FALSE(trends.healthy("b"));
  record(trends, "b", "+");
  CHECK_FALSE(trends.healthy("b"));
  record(trends, "b", "+");
  CHECK(trends.healthy("b"));
  CHECK(trends.healthy("a"));
}

TEST_CASE("health trends: a host that has been away for very long is forgotten") {
  auto trends = trends_of({"a", "b"});
  for (int i = 0; i <= HealthTrends::kForgetAfter; ++i) trends.set_hosts({"a"});
  trends.set_hosts({"a", "b"});
  CHECK(trends.healthy("b"));
}

}  // namespace
}  // namespace orlop
