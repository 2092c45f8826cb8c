#include <charconv>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/json_writer.h"
#include "server/handlers.h"

namespace orlop {
namespace {

/// A whole decimal number, or nothing.
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
  Number number = 0;
  const auto* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

void append_list(std::string& out, const std::vector<std::string>& items) {
  if (items.empty()) {
    out += "null";
    return;
  }
  out += '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    append_json_string(out, items[i], JsonEscape::html);
  }
  out += ']';
}

}  // namespace

Task<Reply> delete_blob(Call& call) {
  const auto digest = Digest::parse(call.parameters[0]);
  if (!digest) co_return kraken_error(400, "parse digest: " + digest.error().detail());
  const auto removed = co_await call.origin.removal().remove(*digest);
  if (removed) co_return empty_reply(202);
  if (removed.error().code() != Errc::pinned) co_return kraken_error(removed.error());
  co_return kraken_error(500, "cannot delete blob data for digest \"" + digest->to_string() +
                                  "\": " + removed.error().detail());
}

Task<Reply> overwrite_metainfo(Call& call) {
  const auto digest = Digest::parse(call.parameters[0]);
  if (!digest) co_return kraken_error(400, "parse digest: " + digest.error().detail());
  const auto text = call.request.argument("piece_length").value_or("");
  const auto piece_length = parse_number<std::int64_t>(text);
  if (!piece_length) {
    co_return kraken_error(400, "invalid piece_length argument: expected a whole number of bytes");
  }
  if (*piece_length <= 0) {
    co_return kraken_error(400, "create metainfo: piece length must be positive");
  }
  const auto done =
      co_await call.origin.metainfo().overwrite(*digest, static_cast<std::uint64_t>(*piece_length));
  if (!done) co_return kraken_error(done.error());
  co_return empty_reply(200);
}

Task<Reply> force_cleanup(Call& call) {
  const auto text = call.request.argument("ttl_hr");
  if (!text || text->empty()) co_return kraken_error(400, "query arg ttl_hr required");
  const auto hours = parse_number<std::int32_t>(*text);
  if (!hours) co_return kraken_error(400, "invalid ttl_hr: expected a whole number of hours");
  const auto report = co_await call.origin.removal().remove_older_than(std::chrono::hours(*hours));
  if (!report) co_return kraken_error(report.error());

  std::vector<std::string> deleted;
  for (const auto& digest : report->deleted) deleted.push_back(digest.hex());
  std::string json = "{\"deleted\":";
  append_list(json, deleted);
  json += ",\"errors\":";
  append_list(json, report->errors);
  json += "}\n";
  co_return text_reply(200, std::move(json), kJson);
}

Task<Reply> force_cleanup_to_target(Call& call) {
  const auto target_text = call.request.argument("target_util_percent");
  if (!target_text || target_text->empty()) {
    co_return kraken_error(400, "query arg target_util_percent required");
  }
  const auto target = parse_number<std::int32_t>(*target_text);
  if (!target || *target < 0 || *target > 99) {
    co_return kraken_error(400, "invalid target_util_percent: expected a number from 0 to 99");
  }
  const auto ban_text = call.request.argument("respect_eviction_ban");
  if (!ban_text || ban_text->empty()) {
    co_return kraken_error(400, "query arg respect_eviction_ban required");
  }
  // Read for the callers' sake: what has an open task stays in either case.
  if (*ban_text != "true" && *ban_text != "false") {
    co_return kraken_error(400, "invalid respect_eviction_ban: expected true or false");
  }
  const auto use = co_await call.origin.eviction().reduce_use_to(*target);
  if (!use) co_return kraken_error(use.error());
  std::string json = "{\"new_util\":";
  append_json_number(json, std::int64_t{*use});
  json += "}\n";
  co_return text_reply(200, std::move(json), kJson);
}

}  // namespace orlop
