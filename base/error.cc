#include "base/error.h"

#include <cerrno>
#include <system_error>

#include "base/check.h"

namespace orlop {

std::string_view to_string(Errc code) noexcept {
  switch (code) {  // No default: a new Errc must choose its name here.
    case Errc::invalid_argument: return "invalid_argument";
    case Errc::not_found: return "not_found";
    case Errc::digest_mismatch: return "digest_mismatch";
    case Errc::corrupt: return "corrupt";
    case Errc::busy: return "busy";
    case Errc::pinned: return "pinned";
    case Errc::timed_out: return "timed_out";
    case Errc::unavailable: return "unavailable";
    case Errc::io_error: return "io_error";
    case Errc::invariant_violation: return "invariant_violation";
  }
  ORLOP_UNREACHABLE();
}

Error Error::from_errno(std::string_view action, int error_number) {
  const auto code = [&] {
    switch (error_number) {
      case ENOENT:
      case ENOTDIR: return Errc::not_found;
      case ENOSPC:
      case EDQUOT:
      case EROFS:
      case EIO:
      case EMFILE:
      case ENFILE: return Errc::busy;
      default: return Errc::io_error;
    }
  }();
  std::string detail(action);
  detail += ": ";
  detail += std::generic_category().message(error_number);
  return Error(code, std::move(detail));
}

Error Error::within(std::string_view action) && {
  std::string detail(action);
  detail += ": ";
  detail += detail_;
  return Error(code_, std::move(detail));
}

}  // namespace orlop
