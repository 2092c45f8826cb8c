#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/asio.h"
#include "origin/origin.h"
#include "server/access.h"
#include "server/admission.h"
#include "server/body.h"
#include "server/reply.h"
#include "server/request.h"

namespace orlop {

class Health;

/// What a handler works with. Lives as long as the request.
struct Call {
  const Request& request;
  Body& body;
  Origin& origin;
  const Health& health;
  /// The path's parameters in the order of the pattern, decoded once. Never empty strings.
  std::array<std::string, 3> parameters;
};

using Handler = Task<Reply> (*)(Call& call);

/// One endpoint. `pattern` is segments; one in braces is a parameter.
struct Route {
  http::verb method;
  std::string_view pattern;
  RouteClass route_class;
  Handler handler;
};

/// The endpoints, from one table (server/routes.cc). HEAD is answered wherever GET is.
class Router {
 public:
  Router(std::span<const Route> routes, AccessRules access, ConcurrencyLimits limits = {});

  /// Finds the endpoint, checks that the caller may use it and that not too many others do, and
  /// runs it: all before a byte of the body is read. The place is taken until the answer is sent:
  /// it travels in the reply.
  Task<Reply> answer(const Request& request, Body& body, Origin& origin,
                     const Health& health) const;

  const Admission& admission() const { return admission_; }

 private:
  struct Match {
    const Route* route = nullptr;
    std::vector<std::string> parameters;
    std::string allow;                   ///< The methods of the path, if the method is not one.
    std::optional<std::string> refusal;  ///< Why the path's parameters are no good.
  };

  struct Compiled {
    Route route;
    std::vector<std::string_view> segments;
  };

  Match match(const Request& request) const;

  std::vector<Compiled> routes_;
  AccessRules access_;
  mutable Admission admission_;  // Counts; what is answered to whom is not changed by it.
};

/// All endpoints of this node.
std::span<const Route> all_routes();

}  // namespace orlop
