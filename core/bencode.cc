#include "core/bencode.h"

#include "base/json_writer.h"

namespace orlop {
namespace {

/// BEP 3: "i", the number in base ten, "e".
void append_integer(std::string& out, std::uint64_t number) {
  out += 'i';
  append_json_number(out, number);  // The same digits.
  out += 'e';
}

}  // namespace

std::string bencode_info(Digest digest, std::uint64_t size_bytes, std::uint64_t piece_length,
                         std::span<const std::uint32_t> piece_sums) {
  std::string out;
  out.reserve(160 + 12 * piece_sums.size());
  out += "d6:Length";
  append_integer(out, size_bytes);
  out += "4:Name64:";
  out += digest.hex();
  out += "11:PieceLength";
  append_integer(out, piece_length);
  out += "9:PieceSumsl";
  for (const auto sum : piece_sums) append_integer(out, sum);
  out += "ee";
  return out;
}

}  // namespace orlop
