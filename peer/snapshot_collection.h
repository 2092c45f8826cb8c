#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "peer/text_buffer.h"

namespace orlop {

/// One array of a snapshot, in a fixed number of sections that change one without the other.
///
/// The encoder keeps what a section was encoded to and asks again only for another revision. An
/// implementation is safe to call while others change the collection, and holds what it locks for
/// one section at most.
class SnapshotCollection {
 public:
  virtual ~SnapshotCollection() = default;

  /// The field's name. Needs no escape.
  virtual std::string_view name() const = 0;
  virtual std::size_t section_count() const = 0;
  /// Another number whenever the section would be encoded to other bytes. Cheap.
  virtual std::uint64_t revision(std::size_t section) const = 0;
  /// Appends the section's elements in order, with commas between them and none at the ends; says
  /// of which revision they are.
  virtual std::uint64_t encode(std::size_t section, TextBuffer& out) = 0;
};

}  // namespace orlop
