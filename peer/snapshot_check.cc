#include "peer/snapshot_check.h"

#include <charconv>
#include <span>
#include <string>
#include <utility>

#include "base/hex.h"
#include "core/digester.h"
#include "peer/snapshot_encoder.h"

namespace orlop {
namespace {

Error refused(std::string why) { return Error(Errc::corrupt, "snapshot: " + std::move(why)); }

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Reads what can be spelled in one way only.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool literal(std::string_view wanted) {
    if (!text_.starts_with(wanted)) return false;
    text_.remove_prefix(wanted.size());
    return true;
  }
  bool number(std::uint64_t& out) {
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), out);
    if (error != std::errc()) return false;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return true;
  }
  /// Up to the next quote, which is not taken.
  std::string_view word() {
    const auto found = text_.substr(0, text_.find('"'));
    text_.remove_prefix(found.size());
    return found;
  }
  bool at_end() const { return text_.empty(); }
  std::string_view rest() const { return text_; }

 private:
  std::string_view text_;
};

struct Row {
  std::string_view collection;
  std::uint64_t length_bytes = 0;
  std::string_view digest;
};

struct Table {
  std::uint64_t saved_at = 0;
  std::vector<Row> rows;
};

Result<Table> parse_table(std::string_view text) {
  Table table;
  Scanner scan(text);
  if (!scan.literal(",\"saved_at\":")) return refused("no time");
  if (!scan.number(table.saved_at)) return refused("no time");
  if (!scan.literal(",\"sections\":[")) return refused("no table of sections");
  while (!scan.literal("]")) {
    Row row;
    if (!table.rows.empty() && !scan.literal(",")) return refused("broken table of sections");
    bool good = scan.literal("[\"");
    row.collection = scan.word();
    good = good && scan.literal("\",") && scan.number(row.length_bytes) && scan.literal(",\"");
    row.digest = scan.word();
    if (!good || !scan.literal("\"]")) return refused("broken table of sections");
    table.rows.push_back(row);
  }
  if (!scan.at_end()) return refused("something after the table of sections");
  return table;
}

Result<> check_beginning(std::string_view bytes) {
  Scanner scan(bytes);
  std::uint64_t version = 0;
  if (!scan.literal("{\"version\":") || !scan.number(version)) return refused("no version");
  if (version != kSnapshotVersion) {
    return refused("version " + std::to_string(version) + " is not one that this program knows");
  }
  return {};
}

}  // namespace

Result<SnapshotContents> check_snapshot(std::string_view bytes) {
  if (auto known = check_beginning(bytes); !known) return std::move(known).error();
  constexpr std::string_view kBeforeChecksum = ",\"checksum\":\"";
  constexpr std::string_view kEnd = "\"}\n";
  constexpr auto kLast = kBeforeChecksum.size() + 2 * Digest::kBytes + kEnd.size();
  if (bytes.size() < kLast) return refused("cut");
  Scanner last(bytes.substr(bytes.size() - kLast));
  if (!last.literal(kBeforeChecksum)) return refused("cut: no checksum at its end");
  const auto checksum = last.word();
  if (last.rest() != kEnd) return refused("cut: no checksum at its end");

  // A string cannot contain this: its quotes would have backslashes.
  const auto body_end = bytes.rfind(",\"saved_at\":");
  if (body_end == std::string_view::npos) return refused("no table of sections");
  const auto tail = bytes.substr(body_end, bytes.size() - kLast - body_end);
  Digester digester;
  digester.update(bytes_of(kSnapshotDomain));
  digester.update(bytes_of(tail));
  if (to_hex(digester.finish_and_restart().bytes()) != checksum) {
    return refused("the checksum is not that of its table of sections");
  }
  const auto table = parse_table(tail);
  if (!table) return table.error();

  SnapshotContents contents{.saved_at = table->saved_at, .sections = {}};
  contents.sections.reserve(table->rows.size());
  constexpr std::string_view kBeginning = "{\"version\":1";
  const auto body = bytes.substr(0, body_end);
  std::size_t at = kBeginning.size();
  std::string_view open;
  std::string glue;
  for (const auto& row : table->rows) {
    glue = ",";
    if (row.collection != open) {
      glue = open.empty() ? ",\"" : "],\"";
      glue += row.collection;
      glue += "\":[";
      open = row.collection;
    }
    const auto name = std::string(row.collection) + " " + std::to_string(contents.sections.size());
    if (body.substr(at, glue.size()) != glue) return refused("wrong bytes before section " + name);
    at += glue.size();
    if (row.length_bytes == 0) return refused("section " + name + " is empty");
    if (row.length_bytes > body.size() - at) return refused("section " + name + " is cut");
    const auto section = body.substr(at, row.length_bytes);
    digester.update(bytes_of(section));
    if (to_hex(digester.finish_and_restart().bytes()) != row.digest) {
      return refused("section " + name + " has another digest");
    }
    contents.sections.push_back(
        {.collection = row.collection, .offset = at, .length_bytes = section.size()});
    at += section.size();
  }
  if (body.substr(at) != (open.empty() ? "" : "]")) return refused("bytes that are in no section");
  return contents;
}

}  // namespace orlop
