// MetaInfo::parse_json: the one place where simdjson reads metainfo. The DOM and not the on-demand
// parser, because that one does not validate what it skips.

#include <simdjson.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/ascii.h"
#include "core/metainfo.h"

namespace orlop {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t kDepthMax = 64;

/// What the text said so far. A repeated "Info" adds to it, as in Go.
struct Fields {
  std::int64_t piece_length = 0;
  std::vector<std::uint32_t> piece_sums;
  std::string_view name;  // Lives in the parser.
  std::int64_t size_bytes = 0;
};

Error refused(std::string_view where, std::string_view why) {
  std::string detail("metainfo: ");
  detail += where;
  detail += ": ";
  detail += why;
  return Error(Errc::invalid_argument, std::move(detail));
}

Error refused(std::string_view where, simdjson::error_code error) {
  // Not the text's fault, so it must not count as a broken sidecar.
  if (error == simdjson::MEMALLOC) return Error(Errc::busy, "metainfo: no memory for the parser");
  return refused(where, simdjson::error_message(error));
}

Result<> read_integer(dom::element value, std::string_view where, std::int64_t& out) {
  if (value.is_null()) return {};
  if (const auto error = value.get(out)) return refused(where, error);
  if (out < 0) return refused(where, "negative");
  return {};
}

Result<> read_sums(dom::element value, std::vector<std::uint32_t>& out) {
  constexpr std::string_view kWhere = "PieceSums";
  out.clear();
  if (value.is_null()) return {};
  dom::array sums;
  if (const auto error = value.get(sums)) return refused(kWhere, error);
  for (const dom::element one : sums) {
    std::uint64_t sum = 0;
    if (const auto error = one.get(sum)) return refused(kWhere, error);
    if (sum > std::numeric_limits<std::uint32_t>::max()) {
      return refused(kWhere, "a sum is above 32 bits");
    }
    out.push_back(static_cast<std::uint32_t>(sum));
  }
  return {};
}

Result<> read_name(dom::element value, std::string_view& out) {
  if (value.is_null()) return {};
  if (const auto error = value.get(out)) return refused("Name", error);
  return {};
}

Result<> read_info(dom::element value, Fields& fields) {
  if (value.is_null()) return {};
  dom::object info;
  if (const auto error = value.get(info)) return refused("Info", error);
  // Go matches names in any case.
  for (const auto& [key, field] : info) {
    auto read = [&, &name = key, &element = field]() -> Result<> {
      if (equal_ignoring_case(name, "PieceLength")) {
        return read_integer(element, "PieceLength", fields.piece_length);
      }
      if (equal_ignoring_case(name, "PieceSums")) return read_sums(element, fields.piece_sums);
      if (equal_ignoring_case(name, "Name")) return read_name(element, fields.name);
      if (equal_ignoring_case(name, "Length")) {
        return read_integer(element, "Length", fields.size_bytes);
      }
      return {};
    }();
    if (!read) return read;
  }
  return {};
}

}  // namespace

Result<MetaInfo> MetaInfo::parse_json(std::string_view text) {
  if (text.empty()) return refused("JSON", "empty");
  if (text.size() > kJsonBytesMax) return refused("JSON", "too long");
  // The parser reads in blocks past the end. Zeros, so that what it sees there is defined.
  std::string padded(text);
  padded.append(simdjson::SIMDJSON_PADDING, '\0');

  dom::parser parser;
  if (const auto error = parser.allocate(text.size(), kDepthMax)) return refused("JSON", error);
  dom::element root;
  constexpr bool kCopy = false;
  if (const auto error = parser.parse(padded.data(), text.size(), kCopy).get(root)) {
    return refused("JSON", error);
  }
  dom::object object;
  if (const auto error = root.get(object)) return refused("JSON", error);

  Fields fields;
  for (const auto& [key, value] : object) {
    if (!equal_ignoring_case(key, "Info")) continue;
    auto read = read_info(value, fields);
    if (!read) return std::move(read).error();
  }
  const auto digest = Digest::parse_hex(fields.name);
  if (!digest) return refused("Name", digest.error().detail());
  auto info = make(*digest, static_cast<std::uint64_t>(fields.size_bytes),
                   static_cast<std::uint64_t>(fields.piece_length), std::move(fields.piece_sums));
  if (!info) return std::move(info).error().within("metainfo");
  return info;
}

}  // namespace orlop
