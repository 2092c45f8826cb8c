#include "server/status.h"

#include "base/check.h"

namespace orlop {

unsigned to_status(Errc code) {
  switch (code) {  // No default: a new Errc must choose its status here.
    case Errc::invalid_argument:
    case Errc::digest_mismatch: return 400;
    case Errc::not_found: return 404;
    case Errc::busy: return 503;
    case Errc::unavailable: return 502;
    case Errc::timed_out: return 504;
    case Errc::corrupt:
    case Errc::pinned:  // As Kraken: a client must not take it for "gone" or "busy".
    case Errc::io_error:
    case Errc::invariant_violation: return 500;
  }
  ORLOP_UNREACHABLE();
}

}  // namespace orlop
