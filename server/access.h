#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cidr.h"
#include "server/request.h"

namespace orlop {

/// Who may use an endpoint (design, section 10).
enum class RouteClass : std::uint8_t {
  probe,    ///< Anybody, however busy the node is: whether it lives.
  read,     ///< Anybody.
  write,    ///< Anybody, on plain HTTP.
  operate,  ///< Only this machine and what admin.allow lists.
};
inline constexpr std::size_t kRouteClasses = 4;

struct AccessRules {
  std::vector<Cidr> admin_allow;

  /// Empty if the request may use such a route, else what to say with the 403.
  ///
  /// Only the address of the TCP connection counts. A request that says it was forwarded comes
  /// from somewhere else than from the machine that sent it, so it is never taken for a local one.
  std::optional<std::string> refusal(RouteClass route_class, const Request& request) const;
};

}  // namespace orlop
