#include "server/reactor_counts.h"

#include <algorithm>

#include "base/check.h"

namespace orlop {
namespace {

std::size_t class_index(std::optional<RouteClass> route_class) {
  return route_class ? static_cast<std::size_t>(*route_class) : kRouteClasses;
}

std::size_t status_index(unsigned status) {
  const auto* const found =
      std::lower_bound(kCountedStatuses.begin(), kCountedStatuses.end(), status);
  if (found == kCountedStatuses.end() || *found != status) return kCountedStatuses.size();
  return static_cast<std::size_t>(found - kCountedStatuses.begin());
}

std::size_t family_index(unsigned status) {
  return std::clamp<std::size_t>(status / 100, 2, kStatusFamilies + 1) - 2;
}

}  // namespace

std::string class_name(std::size_t index) {
  if (index == kRouteClasses) return "none";
  switch (static_cast<RouteClass>(index)) {
    case RouteClass::probe: return "probe";
    case RouteClass::read: return "read";
    case RouteClass::write: return "write";
    case RouteClass::operate: return "operate";
  }
  ORLOP_UNREACHABLE();
}

std::string status_name(std::size_t index) {
  if (index == kCountedStatuses.size()) return "other";
  return std::to_string(kCountedStatuses.at(index));
}

std::string status_family_name(std::size_t index) { return std::to_string(index + 2) + "xx"; }

void ReactorCounts::answered(std::optional<RouteClass> route_class, unsigned status,
                             std::chrono::nanoseconds took, bool sent) {
  auto& counts = classes_[class_index(route_class)];
  counts.answered[status_index(status)].add();
  counts.took[family_index(status)].add(took);
  if (!sent) counts.cut.add();
}

ReactorCounts::Read ReactorCounts::read() const {
  Read read;
  for (std::size_t c = 0; c < kCountedClasses; ++c) {
    const auto& from = classes_[c];
    auto& to = read.classes[c];
    for (std::size_t i = 0; i < kStatusCounts; ++i) to.answered[i] = from.answered[i].value();
    for (std::size_t i = 0; i < kStatusFamilies; ++i) to.took[i] = from.took[i].read();
    to.cut = from.cut.value();
  }
  read.received_bytes = received_bytes_.value();
  read.sent_bytes = sent_bytes_.value();
  read.lag = lag_.read();
  return read;
}

ReactorCounts::Read& ReactorCounts::Read::operator+=(const Read& other) {
  for (std::size_t c = 0; c < kCountedClasses; ++c) {
    const auto& from = other.classes[c];
    auto& to = classes[c];
    for (std::size_t i = 0; i < kStatusCounts; ++i) to.answered[i] += from.answered[i];
    for (std::size_t i = 0; i < kStatusFamilies; ++i) to.took[i] += from.took[i];
    to.cut += from.cut;
  }
  received_bytes += other.received_bytes;
  sent_bytes += other.sent_bytes;
  lag += other.lag;
  return *this;
}

}  // namespace orlop
