#include "server/access.h"

#include <algorithm>
#include <span>

namespace orlop {
namespace {

bool was_forwarded(const Request& request) {
  return request.count("Forwarded") > 0 || request.count("X-Forwarded-For") > 0;
}

/// A v4 client of a v6 socket appears as ::ffff:a.b.c.d.
asio::ip::address unmapped(const asio::ip::address& address) {
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return address;
  return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
}

bool contains(const Cidr& network, const asio::ip::address& address) {
  if (address.is_v4()) {
    const auto bytes = address.to_v4().to_bytes();
    return network.contains(bytes);
  }
  const auto bytes = address.to_v6().to_bytes();
  return network.contains(bytes);
}

}  // namespace

std::optional<std::string> AccessRules::refusal(RouteClass route_class,
                                                const Request& request) const {
  if (route_class != RouteClass::operate) return std::nullopt;
  const auto peer = unmapped(request.peer);
  if (peer.is_loopback() && !was_forwarded(request)) return std::nullopt;
  const bool allowed = std::any_of(admin_allow.begin(), admin_allow.end(),
                                   [&](const Cidr& network) { return contains(network, peer); });
  if (allowed) return std::nullopt;
  return "this endpoint is for operators: " + peer.to_string() +
         (was_forwarded(request) ? " (which forwarded the request)" : "") +
         " is not in admin.allow";
}

}  // namespace orlop
