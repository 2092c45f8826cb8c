#include "core/duplicate_order.h"

#include <simdjson.h>

#include <algorithm>
#include <cstdint>

#include "base/ascii.h"

namespace orlop {
namespace {

Error malformed(std::string_view why) {
  return Error(Errc::invalid_argument, "decode body: " + std::string(why));
}

}  // namespace

Result<std::chrono::nanoseconds> parse_duplicate_order(std::string_view json) {
  simdjson::dom::parser parser;
  const simdjson::padded_string padded(json);
  simdjson::dom::element document;
  if (const auto error = parser.parse(padded).get(document)) {
    return malformed(simdjson::error_message(error));
  }
  std::int64_t delay = 0;
  if (document.is_null()) return std::chrono::nanoseconds(0);
  simdjson::dom::object object;
  if (document.get(object)) return malformed("expected an object like {\"Delay\":0}");
  for (const auto [name, value] : object) {
    if (!equal_ignoring_case(name, "Delay")) continue;
    if (value.is_null()) continue;
    if (value.get(delay)) return malformed("Delay must be a whole number of nanoseconds");
  }
  return std::chrono::nanoseconds(std::max<std::int64_t>(delay, 0));
}

}  // namespace orlop
