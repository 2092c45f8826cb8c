#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "core/byte_range.h"
#include "origin/blob_lookup.h"
#include "origin/blob_metainfo.h"
#include "server/admission.h"
#include "server/multipart.h"
#include "server/request.h"

namespace orlop {

/// An answer before it is written: a head and one of several kinds of body.
struct Reply {
  explicit Reply(unsigned with_status) : status(with_status) {}

  unsigned status;
  std::optional<RouteClass> route_class;  ///< Of the endpoint; none: the request reached none.
  std::string_view content_type;          ///< Of a constant; empty for no body.
  std::vector<std::pair<std::string_view, std::string>> fields;

  // The body: text, or a metainfo's JSON, or a part of a blob, or several parts, or nothing.
  std::string text;
  MetaInfoPtr metainfo;
  std::unique_ptr<OpenBlob> blob;
  std::uint64_t blob_offset = 0;
  std::uint64_t blob_length = 0;
  std::unique_ptr<Multipart> multipart;  ///< Of `blob`, in place of its one part.
  /// For an answer to HEAD about bytes that are not at hand.
  std::optional<std::uint64_t> content_length;

  bool close = false;    ///< The connection ends with this answer.
  bool shed = false;     ///< Refused for the number of the others (server/admission.h).
  Admission::Slot slot;  ///< The request's place among those that run.

  std::uint64_t body_bytes() const;
};

inline constexpr std::string_view kPlainText = "text/plain; charset=utf-8";
inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kOctets = "application/octet-stream";

/// An answer without a body.
inline Reply empty_reply(unsigned status) { return Reply(status); }
Reply text_reply(unsigned status, std::string text, std::string_view content_type = kPlainText);

/// An error on Kraken's paths: plain text, as its peers show it; with Retry-After if a repetition
/// may help.
Reply kraken_error(unsigned status, std::string text);
Reply kraken_error(const Error& error);

/// An error on our own paths: {"error":{"code","message","digest"?,"request_id"}}.
Reply json_error(unsigned status, std::string_view code, std::string_view message,
                 const Request& request, std::optional<Digest> digest = std::nullopt);
Reply json_error(const Error& error, const Request& request,
                 std::optional<Digest> digest = std::nullopt);

/// A blob, or the ranges of it that the request asks for (RFC 9110, section 14), or that the
/// request's conditions are not met (section 13).
Reply blob_reply(OpenBlob blob, const Request& request);

/// The status line and the fields, ready to be sent. `date` is an HTTP date.
std::string head_of(const Reply& reply, const Request& request, bool keep_alive,
                    std::string_view date);

}  // namespace orlop
