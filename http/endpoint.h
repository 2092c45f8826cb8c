#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace orlop {

/// Where a server listens.
struct Endpoint {
  std::string host;  ///< A name or an address, v6 without brackets.
  std::uint16_t port = 0;

  /// "host:port", v6 in brackets: as in a Host field and in a ring label.
  std::string to_string() const;

  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

/// Reads "host:port", "[v6]:port", or "http://…" of either with at most a slash behind it. Without
/// a port it is 80 after "http://", and else a mistake. `invalid_argument` says what is wrong.
Result<Endpoint> parse_endpoint(std::string_view text);

}  // namespace orlop
