#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/cidr.h"
#include "server/request.h"

namespace orlop {

/// Who may use an endpoint (design, section 10).
enum class RouteClass : std::uint8_t {
  read,     ///< Anybody.
  write,    ///< Anybody, on plain HTTP.
  operate,  ///< Only this machine and what admin.allow lists.
};

struct AccessRules {
  std::vector<Cidr> admin_allow;

  /// Empty if the request may use such a route, else what to say with the 403.
  ///
  /// Only the address of the TCP connection counts. A request that says it was forwarded comes
  /// from somewhere else than from the machine that sent it, so it is never taken for a local one.
  std::optional<std::string> refusal(RouteClass route_class, const Request& request) const;
};

}  // namespace orlop
