#include "server/conditions.h"

#include <algorithm>
#include <string>

#include "core/blanks.h"

namespace orlop {
namespace {

/// etagc: anything visible but the quote, and the bytes above ASCII (RFC 9110, section 8.8.3).
bool may_stand_in_tag(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != '"' && byte != 0x7f;
}

/// Takes an entity tag off the start of `text`.
std::optional<EntityTag> take_tag(std::string_view& text) {
  EntityTag tag;
  tag.weak = text.starts_with("W/");  // Case-sensitive, says section 8.8.3.
  if (tag.weak) text.remove_prefix(2);
  if (!text.starts_with('"')) return std::nullopt;
  const auto end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  tag.text = text.substr(0, end + 1);
  const auto inside = text.substr(1, end - 1);
  if (!std::all_of(inside.begin(), inside.end(), may_stand_in_tag)) return std::nullopt;
  text.remove_prefix(end + 1);
  return tag;
}

/// All fields of this name as one list. Nothing if there is none.
std::optional<std::string> list_field(const Request& request, std::string_view name) {
  std::optional<std::string> list;
  for (const auto& [field_name, value] : request.fields) {
    if (!equal_ignoring_case(field_name, name)) continue;
    if (list) {
      *list += ", ";
      *list += value;
    } else {
      list = value;
    }
  }
  return list;
}

enum class Comparison : std::uint8_t { strong, weak };

bool matches(std::string_view list, std::string_view etag, Comparison comparison) {
  const auto parsed = parse_entity_tags(list);
  if (!parsed) return false;
  return parsed->any || std::any_of(parsed->tags.begin(), parsed->tags.end(), [&](auto tag) {
           return tag.text == etag && (!tag.weak || comparison == Comparison::weak);
         });
}

}  // namespace

std::optional<EntityTags> parse_entity_tags(std::string_view list) {
  EntityTags found;
  auto rest = without_blanks(list);
  if (rest == "*") {
    found.any = true;
    return found;
  }
  while (!rest.empty()) {
    if (!rest.starts_with(',')) {
      const auto tag = take_tag(rest);
      if (!tag || found.tags.size() == kEntityTagsMax) return std::nullopt;
      found.tags.push_back(*tag);
      rest = without_blanks(rest);
      if (rest.empty()) break;
      if (!rest.starts_with(',')) return std::nullopt;
    }
    rest = without_blanks(rest.substr(1));
  }
  return found;
}

Precondition check_preconditions(const Request& request, std::string_view etag) {
  const auto if_match = list_field(request, "If-Match");
  if (if_match && !matches(*if_match, etag, Comparison::strong)) return Precondition::failed;
  const auto if_none_match = list_field(request, "If-None-Match");
  if (if_none_match && matches(*if_none_match, etag, Comparison::weak)) {
    return Precondition::not_modified;
  }
  return Precondition::met;
}

bool range_applies(const Request& request, std::string_view etag) {
  const auto validator = request.field("If-Range");
  if (!validator) return true;
  // More than one is a contradiction: the whole blob is right whatever they meant.
  return without_blanks(*validator) == etag && request.count("If-Range") == 1;
}

}  // namespace orlop
