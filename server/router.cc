#include "server/router.h"

#include <algorithm>
#include <utility>

#include "server/health.h"

namespace orlop {
namespace {

std::vector<std::string_view> split(std::string_view path) {
  std::vector<std::string_view> segments;
  path.remove_prefix(1);
  for (;;) {
    const auto slash = path.find('/');
    segments.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return segments;
    path.remove_prefix(slash + 1);
  }
}

bool is_parameter(std::string_view segment) { return segment.starts_with('{'); }

std::string_view name_of(std::string_view parameter) {
  return parameter.substr(1, parameter.size() - 2);
}

/// Segment by segment, undecoded, as Kraken does. A parameter at the end takes at least one byte;
/// one in the middle may be empty, which is answered with 400.
bool fits(const std::vector<std::string_view>& pattern, const std::vector<std::string_view>& path) {
  if (pattern.size() != path.size()) return false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const bool last = i + 1 == pattern.size();
    if (is_parameter(pattern[i]) ? last && path[i].empty() : pattern[i] != path[i]) return false;
  }
  return true;
}

bool answers(const Route& route, http::verb method) {
  if (route.method == method) return true;
  return method == http::verb::head && route.method == http::verb::get;
}

void add_allowed(std::string& allow, http::verb method) {
  const auto add = [&](http::verb one) {
    if (!allow.empty()) allow += ", ";
    const auto name = http::to_string(one);
    allow.append(name.data(), name.size());
  };
  add(method);
  if (method == http::verb::get) add(http::verb::head);
}

/// A refusal before any handler, in the dialect of the path.
Reply refuse(const Request& request, unsigned status, std::string_view code, std::string text) {
  const std::string_view path = request.path;
  if (path == "/cas" || path.starts_with("/cas/")) return json_error(status, code, text, request);
  return kraken_error(status, std::move(text));
}

}  // namespace

Router::Router(std::span<const Route> routes, AccessRules access, ConcurrencyLimits limits)
    : access_(std::move(access)), admission_(limits) {
  for (const auto& route : routes) {
    routes_.push_back({.route = route, .segments = split(route.pattern)});
  }
}

Router::Match Router::match(const Request& request) const {
  Match match;
  if (!request.path.starts_with('/')) return match;
  const auto path = split(request.path);
  for (const auto& candidate : routes_) {
    if (!fits(candidate.segments, path)) continue;
    if (!answers(candidate.route, request.method)) {
      add_allowed(match.allow, candidate.route.method);
      continue;
    }
    match.route = &candidate.route;
    for (std::size_t i = 0; i < path.size(); ++i) {
      if (!is_parameter(candidate.segments[i])) continue;
      const std::string name(name_of(candidate.segments[i]));
      auto decoded = percent_decoded(path[i]);
      if (!decoded) {
        match.refusal = "param " + name + " is not percent-encoded UTF-8 text without NUL";
      } else if (decoded->empty()) {
        match.refusal = "param " + name + " is required";
      }
      if (match.refusal) return match;
      match.parameters.push_back(*std::move(decoded));
    }
    return match;
  }
  return match;
}

Task<Reply> Router::answer(const Request& request, Body& body, Origin& origin,
                           const Health& health) const {
  auto found = match(request);
  if (found.route == nullptr && !found.allow.empty()) {
    auto reply = refuse(request, 405, "method_not_allowed", "this path answers " + found.allow);
    reply.fields.emplace_back("Allow", found.allow);
    co_return reply;
  }
  if (found.route == nullptr) {
    co_return refuse(request, 404, "not_found", "404 page not found\n");
  }
  const auto by_route = [route_class = found.route->route_class](Reply reply) {
    reply.route_class = route_class;
    return reply;
  };
  if (auto refused = access_.refusal(found.route->route_class, request)) {
    co_return by_route(refuse(request, 403, "forbidden", *std::move(refused)));
  }
  if (found.refusal) {
    co_return by_route(refuse(request, 400, "invalid_argument", *std::move(found.refusal)));
  }

  auto slot = admission_.enter(found.route->route_class);
  if (!slot) {
    auto reply = refuse(request, 503, "busy", slot.error().detail());
    reply.shed = true;
    co_return by_route(std::move(reply));
  }

  Call call{.request = request, .body = body, .origin = origin, .health = health, .parameters = {}};
  std::move(found.parameters.begin(), found.parameters.end(), call.parameters.begin());
  auto reply = co_await found.route->handler(call);
  reply.slot = *std::move(slot);
  co_return by_route(std::move(reply));
}

}  // namespace orlop
