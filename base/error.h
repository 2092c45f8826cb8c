#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace orlop {

/// The kinds of failure that make some caller act differently.
///
/// Closed on purpose: a new kind has to earn its place. `server/status.cc` maps each kind to one
/// HTTP status in a `switch` without `default`, so a new kind does not build until it is mapped.
enum class Errc : std::uint8_t {
  invalid_argument,     ///< Can never succeed as asked: a malformed digest, a range past the end.
  not_found,            ///< Not here. It may be at another origin, or in a backend.
  digest_mismatch,      ///< The bytes do not hash to the digest they were sent under.
  corrupt,              ///< Bytes at rest are not the bytes that were committed. Never retried.
  busy,                 ///< A limit is reached: memory, disk, queue. Try again later, or elsewhere.
  pinned,               ///< The blob may not go: somebody still has to be sent a copy.
  timed_out,            ///< The deadline passed first. The work may still have happened.
  unavailable,          ///< A peer or a backend could not be reached.
  io_error,             ///< The operating system refused. The detail ends in its own words.
  invariant_violation,  ///< Our own code asked for what it never may. Answered 500, never hidden.
};

/// The stable name of a kind, for logs, metrics labels and JSON: "not_found".
std::string_view to_string(Errc code) noexcept;

/// Why an operation failed: a kind for the program, a detail for the person who reads the log.
///
/// A class with a constructor and not an aggregate: see "GCC 12 and co_await" in CONTRIBUTING.md.
class Error {
 public:
  Error(Errc code, std::string detail) : code_(code), detail_(std::move(detail)) {}

  /// For a system call that failed: `Error::from_errno("rename " + path, errno)`.
  /// ENOENT and ENOTDIR become `not_found`. ENOSPC, EDQUOT, EROFS, EIO, EMFILE and ENFILE become
  /// `busy`: this node cannot do it now, another one can (design, section 4.2). All others are
  /// `io_error`.
  static Error from_errno(std::string_view action, int error_number);

  Errc code() const noexcept { return code_; }
  const std::string& detail() const noexcept { return detail_; }

  /// Says where it happened, from the inside out: "put sha256:ab…: rename a b: No space left".
  Error within(std::string_view action) &&;

 private:
  Errc code_;
  std::string detail_;
};

}  // namespace orlop
