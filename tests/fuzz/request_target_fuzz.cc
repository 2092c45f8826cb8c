// percent_decoded takes path segments and query arguments from strangers. Property: what it accepts
// has no NUL, and is what it was decoded from: with all of its bytes escaped, it decodes to itself.
// An argument of a query is found as itself again.

#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"
#include "server/request.h"

namespace {

std::string escaped(std::string_view text) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  std::string all;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    all += '%';
    all += kDigits[byte >> 4];
    all += kDigits[byte & 15];
  }
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);

  const auto decoded = orlop::percent_decoded(text);
  if (!decoded) return 0;
  ORLOP_CHECK(decoded->size() <= text.size());
  ORLOP_CHECK(decoded->find('\0') == std::string::npos);
  ORLOP_CHECK(orlop::percent_decoded(escaped(*decoded)) == decoded);

  orlop::Request request;
  request.query = "first=1&second=" + escaped(*decoded) + "&second=other";
  ORLOP_CHECK(request.argument("second") == decoded);
  request.query = text;
  if (const auto argument = request.argument("a")) {
    ORLOP_CHECK(argument->find('\0') == std::string::npos);
  }
  return 0;
}
