// The infohash is the SHA-1 of what bencode_info writes, so one byte more or less makes another
// torrent. The numbers come from files and bodies of strangers, by MetaInfo::parse_json.
// Properties, by a checker that shares no code with the encoder: the text is one well-formed BEP 3
// dictionary, its keys are sorted, its values are the metainfo's, and the infohash is its SHA-1,
// each time.

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "core/bencode.h"
#include "core/metainfo.h"
#include "core/sha1.h"

namespace orlop {
namespace {

/// Takes a BEP 3 text apart from the front. Each call stops the program if the text is not that.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  void expect(char byte) {
    ORLOP_CHECK(next_is(byte));
    rest_.remove_prefix(1);
  }
  bool next_is(char byte) const { return !rest_.empty() && rest_.front() == byte; }
  bool done() const { return rest_.empty(); }

  /// "i", digits without a leading zero, "e".
  std::uint64_t integer() {
    expect('i');
    const auto number = digits();
    expect('e');
    return number;
  }
  /// The length, ":", the bytes.
  std::string_view string() {
    const auto length = digits();
    expect(':');
    ORLOP_CHECK(length <= rest_.size());
    const auto bytes = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return bytes;
  }

 private:
  std::uint64_t digits() {
    std::uint64_t number = 0;
    const auto* begin = rest_.data();
    const auto parsed = std::from_chars(begin, begin + rest_.size(), number);
    ORLOP_CHECK(parsed.ec == std::errc());
    ORLOP_CHECK(*begin != '0' || parsed.ptr == begin + 1);
    rest_.remove_prefix(static_cast<std::size_t>(parsed.ptr - begin));
    return number;
  }

  std::string_view rest_;
};

void check_text(std::string_view text, const MetaInfo& info) {
  Reader reader(text);
  std::string_view previous;
  std::vector<std::uint64_t> sums;
  std::size_t keys = 0;
  reader.expect('d');
  for (; !reader.next_is('e'); ++keys) {
    const auto key = reader.string();
    ORLOP_CHECK(previous < key);
    previous = key;
    if (key == "Length") {
      ORLOP_CHECK(reader.integer() == info.size_bytes());
    } else if (key == "Name") {
      ORLOP_CHECK(reader.string() == info.digest().hex());
    } else if (key == "PieceLength") {
      ORLOP_CHECK(reader.integer() == info.piece_length());
    } else {
      ORLOP_CHECK(key == "PieceSums");
      reader.expect('l');
      while (!reader.next_is('e')) sums.push_back(reader.integer());
      reader.expect('e');
    }
  }
  reader.expect('e');
  ORLOP_CHECK(reader.done());
  ORLOP_CHECK(keys == 4);
  ORLOP_CHECK(std::vector<std::uint64_t>(info.piece_sums().begin(), info.piece_sums().end()) ==
              sums);
}

}  // namespace
}  // namespace orlop

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto info =
      orlop::MetaInfo::parse_json(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!info) return 0;
  const auto text = orlop::bencode_info(info->digest(), info->size_bytes(), info->piece_length(),
                                        info->piece_sums());

  orlop::check_text(text, *info);
  ORLOP_CHECK(orlop::sha1_of(text) == info->infohash().bytes());
  const auto again = orlop::MetaInfo::parse_json(info->json());
  ORLOP_CHECK(again && again->infohash() == info->infohash());
  return 0;
}
