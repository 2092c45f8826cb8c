// The fields of conditional requests come from strangers. Properties: a list of entity tags that is
// accepted is short enough, and written plainly it is read again as the same one; what If-Range
// accepts, If-Match accepts, and what that accepts, If-None-Match recognises; and no field is taken
// for another one, in whatever order the input's lines are spread over them.

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "server/conditions.h"

namespace {

constexpr std::string_view kEtag = "\"e\"";

void check_list(std::string_view text) {
  const auto list = orlop::parse_entity_tags(text);
  if (!list) return;
  ORLOP_CHECK(list->tags.size() <= orlop::kEntityTagsMax);
  if (list->any) ORLOP_CHECK(list->tags.empty());
  std::string plain = list->any ? "*" : "";
  for (const auto& tag : list->tags) {
    ORLOP_CHECK(tag.text.size() >= 2);
    ORLOP_CHECK(tag.text.find('"', 1) == tag.text.size() - 1);
    if (!plain.empty()) plain += ',';
    if (tag.weak) plain += "W/";
    plain += tag.text;
  }
  ORLOP_CHECK(orlop::parse_entity_tags(plain) == list);
}

orlop::Precondition check_one(std::string name, std::string_view value) {
  orlop::Request request;
  request.fields.emplace_back(std::move(name), value);
  return orlop::check_preconditions(request, kEtag);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  check_list(rest);

  const bool matches = check_one("If-Match", rest) == orlop::Precondition::met;
  const bool has = check_one("If-None-Match", rest) == orlop::Precondition::not_modified;
  if (matches) ORLOP_CHECK(has);
  orlop::Request in_range;
  in_range.fields.emplace_back("If-Range", rest);
  if (orlop::range_applies(in_range, kEtag)) ORLOP_CHECK(matches);

  orlop::Request request;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const char* const kNames[] = {"If-Match", "if-none-match", "If-Range"};
    request.fields.emplace_back(kNames[request.fields.size() % 3], line);
  }
  // Without If-Match nothing fails, and without If-None-Match everything is modified.
  const auto result = orlop::check_preconditions(request, kEtag);
  if (result == orlop::Precondition::failed) ORLOP_CHECK(request.field("If-Match"));
  if (result == orlop::Precondition::not_modified) ORLOP_CHECK(request.field("If-None-Match"));
  if (!request.field("If-Range")) ORLOP_CHECK(orlop::range_applies(request, kEtag));
  return 0;
}
