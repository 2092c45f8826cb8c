#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/random.h"
#include "base/result.h"

namespace orlop {

/// The name of an upload in progress: 32 random hex digits, '-', 8 hex digits that say at which
/// node it was started (design, section 4.1), so that any node can route it.
///
/// A value. The text form is the only one, and its alphabet makes it safe as a file name: whoever
/// holds an UploadId may put it into a path.
class UploadId {
 public:
  static constexpr std::size_t kTextBytes = 32 + 1 + 8;

  /// Reads the text form, lower-case digits only. `invalid_argument` on anything else, such as
  /// the UUIDs of Kraken's uploads.
  static Result<UploadId> parse(std::string_view text);

  /// A fresh id at the node whose label in the ring is `ring_label`: the last 8 digits are the
  /// first 4 bytes of that label's SHA-256.
  static UploadId make(Random& random, std::string_view ring_label);

  const std::string& text() const { return text_; }

  friend bool operator==(const UploadId&, const UploadId&) = default;

 private:
  explicit UploadId(std::string text) : text_(std::move(text)) {}

  std::string text_;
};

}  // namespace orlop

template <>
struct std::hash<orlop::UploadId> {
  std::size_t operator()(const orlop::UploadId& id) const noexcept {
    return std::hash<std::string>()(id.text());
  }
};
