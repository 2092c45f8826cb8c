#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/tally.h"
#include "server/access.h"

namespace orlop {

/// The classes by which requests are counted: those of the endpoints, and one for what reached none
/// (404 for the path, 405, a malformed head).
inline constexpr std::size_t kCountedClasses = kRouteClasses + 1;
/// "probe", "read", "write", "operate", "none". Pre: index < kCountedClasses.
std::string class_name(std::size_t index);

/// The statuses that are counted one by one: all that we send. A new one that is missing here
/// counts under the name "other".
inline constexpr std::array<unsigned, 20> kCountedStatuses = {200, 201, 202, 204, 206, 304, 400,
                                                              403, 404, 405, 409, 412, 416, 417,
                                                              431, 500, 501, 502, 503, 504};
inline constexpr std::size_t kStatusCounts = kCountedStatuses.size() + 1;
/// "200" … "504", "other". Pre: index < kStatusCounts.
std::string status_name(std::size_t index);

/// Durations are counted by the hundreds only: a histogram is many series.
inline constexpr std::size_t kStatusFamilies = 4;
/// "2xx" … "5xx". Pre: index < kStatusFamilies.
std::string status_family_name(std::size_t index);

/// What one reactor counts. Only its thread writes, so a request pays a few plain additions and no
/// locked instruction; any thread reads. On cache lines of its own.
class alignas(64) ReactorCounts {
 public:
  /// A request was answered. `took` runs from its complete head to the last byte that was handed to
  /// the kernel, or to when it was clear that the client takes no more (`sent` is false then).
  void answered(std::optional<RouteClass> route_class, unsigned status,
                std::chrono::nanoseconds took, bool sent);
  void received(std::uint64_t bytes) { received_bytes_.add(bytes); }
  void sent(std::uint64_t bytes) { sent_bytes_.add(bytes); }
  /// The loop ran something so much later than it was due.
  void late(std::chrono::nanoseconds by) { lag_.add(by); }

  struct Read {
    struct OfClass {
      std::array<std::uint64_t, kStatusCounts> answered = {};
      std::array<Distribution, kStatusFamilies> took;
      std::uint64_t cut = 0;  ///< Answers that were not sent to their end.
    };
    std::array<OfClass, kCountedClasses> classes;
    std::uint64_t received_bytes = 0;  ///< From sockets: heads and bodies as they were on the wire.
    std::uint64_t sent_bytes = 0;
    Distribution lag;

    Read& operator+=(const Read& other);
  };
  Read read() const;

 private:
  struct OfClass {
    std::array<Tally, kStatusCounts> answered;
    std::array<DurationHistogram, kStatusFamilies> took;
    Tally cut;
  };

  std::array<OfClass, kCountedClasses> classes_;
  Tally received_bytes_;
  Tally sent_bytes_;
  DurationHistogram lag_;
};

}  // namespace orlop
