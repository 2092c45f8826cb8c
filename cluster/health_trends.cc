#include "cluster/health_trends.h"

#include <algorithm>
#include <iterator>

namespace orlop {

void HealthTrends::set_hosts(const std::vector<std::string>& hosts) {
  for (auto& [name, host] : hosts_) host.present = false;
  for (const auto& name : hosts) {
    auto& host = hosts_[name];  // Made healthy, if it is new.
    host.present = true;
    host.absent = 0;
  }
  for (auto at = hosts_.begin(); at != hosts_.end();) {
    auto& host = at->second;
    if (!host.present) {
      // A healthy one loses its trend with its health; an unhealthy one keeps its failures.
      if (host.healthy) host.trend = 0;
      host.healthy = false;
      ++host.absent;
    }
    at = host.absent > kForgetAfter ? hosts_.erase(at) : std::next(at);
  }
}

bool HealthTrends::record(const std::string& host, bool passed) {
  const auto found = hosts_.find(host);
  if (found == hosts_.end() || !found->second.present) return false;
  auto& [present, healthy, trend, absent] = found->second;
  const bool before = healthy;
  if (passed) {
    trend = std::min(std::max(trend + 1, 1), limits_.passes);
    if (trend == limits_.passes) healthy = true;
  } else {
    trend = std::max(std::min(trend - 1, -1), -limits_.fails);
    if (trend == -limits_.fails) healthy = false;
  }
  return healthy != before;
}

bool HealthTrends::healthy(const std::string& host) const {
  const auto found = hosts_.find(host);
  return found != hosts_.end() && found->second.healthy;
}

}  // namespace orlop
