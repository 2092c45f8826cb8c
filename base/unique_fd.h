#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/result.h"

namespace orlop {

/// Owns one file descriptor, or none. Move-only; not thread-safe, as every owner is.
class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    std::swap(fd_, other.fd_);  // `other` closes what we held when it dies.
    return *this;
  }
  ~UniqueFd() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }

  /// Gives the descriptor away: the caller closes it.
  int release() noexcept { return std::exchange(fd_, -1); }

  /// Closes now and tells. A writer must use this: some file systems report a failed write
  /// only here (close(2), "Dealing with error returns from close()"). Empty afterwards either
  /// way: on Linux the descriptor is gone even when close fails, so there is no retry.
  Result<> close() {
    if (fd_ < 0) return {};
    if (::close(std::exchange(fd_, -1)) != 0) return Error::from_errno("close", errno);
    return {};
  }

 private:
  int fd_ = -1;
};

}  // namespace orlop
