#pragma once

namespace orlop::detail {

/// Prints what was promised and where, then aborts. See ORLOP_CHECK.
[[noreturn]] void check_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace orlop::detail

/// Stops the process when `condition` is false: the code is wrong, and to go on would risk blobs.
/// For what the program itself promises, never for what arrives from outside (that is an `Error`).
/// On in every build, so keep the condition cheap. One fact a check: two lines, not `a && b`.
#define ORLOP_CHECK(condition) \
  ((condition) ? void() : ::orlop::detail::check_failed(#condition, __FILE__, __LINE__))

/// For the end of a `switch` that handles every enumerator.
#define ORLOP_UNREACHABLE() ::orlop::detail::check_failed("unreachable", __FILE__, __LINE__)
