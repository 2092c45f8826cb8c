#include "cli/digest_operand.h"

#include "base/log.h"

namespace orlop {

Result<Digest> parse_digest_operand(std::string_view text) {
  auto digest =
      text.find(':') != std::string_view::npos ? Digest::parse(text) : Digest::parse_hex(text);
  if (digest) return digest;
  return Error(Errc::invalid_argument,
               log_escaped(text) + " is no digest: expected sha256: and 64 lower-case hex digits");
}

}  // namespace orlop
