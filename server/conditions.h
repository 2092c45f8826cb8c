#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "server/request.h"

namespace orlop {

// Conditional requests (RFC 9110, section 13), for what has one strong entity tag for ever: a blob,
// whose tag is its digest in quotes. It has no date of modification, so If-Modified-Since and
// If-Unmodified-Since are ignored, as section 13.1 says.
//
// Everything here is a stranger's text. What is malformed, or too much, counts as a list that names
// no tag: then If-None-Match gets the bytes, and If-Match, which promises something, fails.

/// An entity tag as a client wrote it (RFC 9110, section 8.8.3).
struct EntityTag {
  bool weak = false;      ///< It was written with "W/" before it.
  std::string_view text;  ///< With its quotes. Points into what was parsed.

  friend bool operator==(const EntityTag&, const EntityTag&) = default;
};

/// The value of If-Match or If-None-Match.
struct EntityTags {
  bool any = false;             ///< It was "*", and `tags` is empty.
  std::vector<EntityTag> tags;  ///< In order. May be empty: the list may.

  friend bool operator==(const EntityTags&, const EntityTags&) = default;
};

inline constexpr std::size_t kEntityTagsMax = 1024;

/// Reads "*" or a list of entity tags; empty elements are skipped (RFC 9110, section 5.6.1).
/// Nothing if anything in it is malformed, or if it names more than `kEntityTagsMax` tags. The
/// result points into `list`.
std::optional<EntityTags> parse_entity_tags(std::string_view list);

enum class Precondition : std::uint8_t {
  met,           ///< Or there is none: answer as if there were none.
  not_modified,  ///< The client has the bytes: 304.
  failed,        ///< 412.
};

/// What a GET or HEAD of something that is here, and whose strong tag is `etag` (with its quotes),
/// asks to be checked first: If-Match by strong comparison, then If-None-Match by weak comparison
/// (RFC 9110, section 13.2.2). Several fields of one name are one list (section 5.3).
Precondition check_preconditions(const Request& request, std::string_view etag);

/// Whether the request's `Range` is to be looked at: false if If-Range names anything but `etag` as
/// a strong tag (RFC 9110, section 13.1.5). A date never matches, for want of one to compare it
/// with. Without If-Range it is true.
bool range_applies(const Request& request, std::string_view etag);

}  // namespace orlop
