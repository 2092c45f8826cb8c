#include "server/admission.h"

#include <chrono>
#include <limits>
#include <string>

#include "base/check.h"
#include "base/log.h"

namespace orlop {
namespace {

constexpr std::chrono::milliseconds kQuiet{10'000};

std::string_view key_of(RouteClass route_class) {
  switch (route_class) {
    case RouteClass::probe: return "";
    case RouteClass::read: return "server.reads_max";
    case RouteClass::write: return "server.writes_max";
    case RouteClass::operate: return "server.operations_max";
  }
  ORLOP_UNREACHABLE();
}

}  // namespace

std::size_t ConcurrencyLimits::of(RouteClass route_class) const {
  switch (route_class) {
    case RouteClass::probe: return std::numeric_limits<std::size_t>::max();
    case RouteClass::read: return reads_max;
    case RouteClass::write: return writes_max;
    case RouteClass::operate: return operations_max;
  }
  ORLOP_UNREACHABLE();
}

void Admission::Slot::release() {
  if (counter_ != nullptr) counter_->running.fetch_sub(1, std::memory_order_relaxed);
  counter_ = nullptr;
}

Result<Admission::Slot> Admission::enter(RouteClass route_class) {
  // A probe that is refused would take a busy node for a dead one.
  if (route_class == RouteClass::probe) return Slot();
  auto& counter = counters_[static_cast<std::size_t>(route_class)];
  const auto limit = limits_.of(route_class);
  // Counted first and looked at afterwards, so two who come at once cannot both be the last.
  if (counter.running.fetch_add(1, std::memory_order_relaxed) < limit) return Slot(counter);
  counter.running.fetch_sub(1, std::memory_order_relaxed);
  complain(route_class, counter);
  return Error(Errc::busy, "too many requests of this kind are running (" +
                               std::string(key_of(route_class)) + " is " + std::to_string(limit) +
                               ")");
}

std::size_t Admission::running(RouteClass route_class) const {
  return counters_[static_cast<std::size_t>(route_class)].running.load(std::memory_order_relaxed);
}

std::uint64_t Admission::refused(RouteClass route_class) const {
  return counters_[static_cast<std::size_t>(route_class)].refused_ever.value();
}

void Admission::complain(RouteClass route_class, Counter& counter) {
  counter.refused_ever.add();
  counter.refused.fetch_add(1, std::memory_order_relaxed);
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
                       std::chrono::steady_clock::now().time_since_epoch())
                       .count();
  auto quiet_until = counter.quiet_until_ms.load(std::memory_order_relaxed);
  if (now < quiet_until) return;
  if (!counter.quiet_until_ms.compare_exchange_strong(quiet_until, now + kQuiet.count())) return;
  log_warn("requests_refused", {{"limit", key_of(route_class)},
                                {"running_max", limits_.of(route_class)},
                                {"refused", counter.refused.exchange(0)}});
}

}  // namespace orlop
