#include "http/endpoint.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/ascii.h"
#include "base/log.h"

namespace orlop {
namespace {

constexpr std::string_view kScheme = "http://";
constexpr std::size_t kHostBytesMax = 253;  // RFC 1035, section 2.3.4.

Error refused(std::string_view text, const std::string& why) {
  return Error(Errc::invalid_argument,
               "\"" + log_escaped(text) + "\" is no address of a server: " + why);
}

/// Letters, digits, '-', '_', '.'; and ':' for v6. Nothing else may get into a Host field.
bool is_host(std::string_view host) {
  return !host.empty() && host.size() <= kHostBytesMax &&
         std::all_of(host.begin(), host.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '_' || c == '.' || c == ':';
         });
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto* end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data(), end, port);
  if (failed != std::errc() || last != end || port == 0) return std::nullopt;
  return port;
}

}  // namespace

std::string Endpoint::to_string() const {
  const bool v6 = host.find(':') != std::string::npos;
  return (v6 ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

Result<Endpoint> parse_endpoint(std::string_view text) {
  auto left = text;
  const bool scheme = equal_ignoring_case(left.substr(0, kScheme.size()), kScheme);
  if (scheme) {
    left.remove_prefix(kScheme.size());
    if (left.ends_with('/')) left.remove_suffix(1);
  } else if (left.find("://") != std::string_view::npos) {
    return refused(text, "only http:// is understood");
  }
  Endpoint endpoint;
  std::string_view port;
  if (left.starts_with('[')) {
    const auto bracket = left.find(']');
    if (bracket == std::string_view::npos) return refused(text, "a ']' is missing");
    endpoint.host = left.substr(1, bracket - 1);
    left.remove_prefix(bracket + 1);
    if (!left.empty() && !left.starts_with(':')) return refused(text, "expected ':' behind ']'");
    if (!left.empty()) port = left.substr(1);
    if (left == ":") return refused(text, "the port is missing");
  } else {
    const auto colon = left.find(':');
    endpoint.host = left.substr(0, colon);
    if (colon != std::string_view::npos) {
      port = left.substr(colon + 1);
      if (port.empty()) return refused(text, "the port is missing");
      if (port.find(':') != std::string_view::npos) {
        return refused(text, "an IPv6 address goes in brackets: [::1]:15002");
      }
    }
  }
  if (!is_host(endpoint.host)) return refused(text, "expected host:port");
  if (port.empty()) {
    if (!scheme) return refused(text, "expected host:port");
    endpoint.port = 80;
    return endpoint;
  }
  const auto number = parse_port(port);
  if (!number) return refused(text, "the port must be 1 to 65535");
  endpoint.port = *number;
  return endpoint;
}

}  // namespace orlop
