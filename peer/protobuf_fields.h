#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace orlop {

/// One field of a protobuf message (protobuf.dev/programming-guides/encoding), as it came.
struct ProtobufField {
  std::uint32_t number = 0;
  /// A varint's value; of a field of fixed size nothing.
  std::optional<std::uint64_t> varint;
  /// A string's, a submessage's or a map entry's bytes.
  std::optional<std::string_view> bytes;
};

/// Takes the fields of a message one after the other. Groups, which proto3 does not have, and
/// everything that does not fit into the message are malformed. Never allocates.
class ProtobufFields {
 public:
  explicit ProtobufFields(std::string_view message) : left_(message) {}

  /// The next one; nothing at the end or where the message is malformed.
  std::optional<ProtobufField> next();
  bool malformed() const { return malformed_; }

 private:
  std::optional<std::uint64_t> take_varint();
  std::optional<std::string_view> take(std::uint64_t count);
  std::optional<ProtobufField> fail();

  std::string_view left_;
  bool malformed_ = false;
};

/// Appends; as in proto3, nothing for zero and for the empty text.
void append_protobuf(std::string& message, std::uint32_t number, std::uint64_t value);
void append_protobuf(std::string& message, std::uint32_t number, std::string_view bytes);
/// Also if it is empty: that a submessage is there means something.
void append_protobuf_submessage(std::string& message, std::uint32_t number,
                                std::string_view submessage);

}  // namespace orlop
