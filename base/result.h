#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/error.h"

namespace orlop {

/// A value, or why there is none. Return either one; read it as a std::expected<T, Error>, whose
/// names these are. Why not std::expected: docs/decisions/0001-result.md.
template <class T = void>
class [[nodiscard]] Result {
 public:
  using value_type = T;

  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }

  /// Pre: has_value(). Checked, because reading a value that is not there is our bug.
  T& operator*() & { return ORLOP_CHECK(has_value()), *std::get_if<0>(&state_); }
  const T& operator*() const& { return ORLOP_CHECK(has_value()), *std::get_if<0>(&state_); }
  T&& operator*() && { return ORLOP_CHECK(has_value()), std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return &**this; }
  const T* operator->() const { return &**this; }

  /// Pre: !has_value().
  const Error& error() const& { return ORLOP_CHECK(!has_value()), *std::get_if<1>(&state_); }
  Error&& error() && { return ORLOP_CHECK(!has_value()), std::move(*std::get_if<1>(&state_)); }

 private:
  std::variant<T, Error> state_;
};

/// Success without a value, or why not. `return {};` is success (in a coroutine:
/// `co_return Result<>();`, because Asio cannot deduce `{}`).
template <>
class [[nodiscard]] Result<void> {
 public:
  using value_type = void;

  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool has_value() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return has_value(); }

  /// Pre: !has_value().
  const Error& error() const& { return ORLOP_CHECK(!has_value()), *error_; }
  Error&& error() && { return ORLOP_CHECK(!has_value()), std::move(*error_); }

 private:
  std::optional<Error> error_;
};

}  // namespace orlop
