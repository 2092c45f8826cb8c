#include "cluster/origin_client.h"

#include <charconv>
#include <utility>

#include "base/log.h"

namespace orlop {
namespace {

constexpr std::size_t kTextBytesMax = 1 << 20;
constexpr std::size_t kIdBytesMax = 256;

/// RFC 3986, section 2.3: all else is escaped, slashes too, since a namespace is one segment.
std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '.' || c == '_' || c == '~';
    if (plain) {
      encoded += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded += '%';
    encoded += kDigits[byte >> 4];
    encoded += kDigits[byte & 0xf];
  }
  return encoded;
}

std::string blob_path(std::string_view name_space, Digest digest) {
  return "/namespace/" + percent_encoded(name_space) + "/blobs/" + digest.to_string();
}

std::string upload_path(std::string_view name_space, Digest digest, std::string_view id) {
  return blob_path(name_space, digest) + "/uploads/" + percent_encoded(id);
}

HttpRequest request_of(std::string method, std::string target) {
  HttpRequest request;
  request.method = std::move(method);
  request.target = std::move(target);
  return request;
}

Errc kind_of(unsigned status) {
  switch (status) {
    case 404: return Errc::not_found;
    case 429:
    case 503: return Errc::busy;
    case 502:
    case 504: return Errc::unavailable;
    default: break;
  }
  if (status >= 400 && status < 500) return Errc::invalid_argument;
  return status >= 500 ? Errc::io_error : Errc::corrupt;
}

Error refused(const Endpoint& origin, unsigned status, std::string_view text) {
  std::string detail = origin.to_string() + " answers " + std::to_string(status);
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (!text.empty()) detail += ": " + log_escaped(text);
  if (text.empty() && status == 404) detail += ": it is not here";
  return Error(kind_of(status), detail);
}

Error refused(const Endpoint& origin, const HttpTextAnswer& answer) {
  return refused(origin, answer.head.status, answer.text);
}

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t number = 0;
  const auto* end = text.data() + text.size();
  const auto [last, failed] = std::from_chars(text.data(), end, number);
  if (failed != std::errc() || last != end) return std::nullopt;
  return number;
}

/// Of "bytes 5-9/10" the 5 (RFC 9110, section 14.4).
std::optional<std::uint64_t> first_of_range(std::string_view text) {
  constexpr std::string_view kUnit = "bytes ";
  if (!text.starts_with(kUnit)) return std::nullopt;
  text.remove_prefix(kUnit.size());
  return whole_number(text.substr(0, text.find('-')));
}

}  // namespace

Task<Result<HttpTextAnswer>> OriginClient::ask(const HttpRequest& request) {
  return connection_.exchange(request, {}, kTextBytesMax);
}

Task<Result<std::uint64_t>> OriginClient::stat(std::string_view name_space, Digest digest) {
  // Kraken's stat is a GET of another path with HEAD's meaning; this one both kinds know.
  const auto request = request_of("HEAD", "/internal/namespace/" + percent_encoded(name_space) +
                                              "/blobs/" + digest.to_string());
  const auto answer = co_await ask(request);
  if (!answer) co_return answer.error();
  if (answer->head.status != 200) co_return refused(origin(), *answer);
  co_return answer->head.content_length.value_or(0);
}

Task<Result<std::optional<std::string>>> OriginClient::start_upload(std::string_view name_space,
                                                                    Digest digest,
                                                                    std::uint64_t size_bytes) {
  const auto request = request_of(
      "POST", blob_path(name_space, digest) + "/uploads?size=" + std::to_string(size_bytes));
  const auto answer = co_await ask(request);
  if (!answer) co_return answer.error();
  if (answer->head.status == 409) co_return std::optional<std::string>();
  if (answer->head.status != 200) co_return refused(origin(), *answer);
  const auto id = answer->head.field("Location");
  if (!id || id->empty() || id->size() > kIdBytesMax) {
    co_return Error(Errc::corrupt, origin().to_string() + " began an upload and gave no id for it");
  }
  co_return std::optional<std::string>(*id);
}

Task<Result<std::uint64_t>> OriginClient::upload_offset(std::string_view name_space, Digest digest,
                                                        std::string_view id) {
  const auto request = request_of("GET", upload_path(name_space, digest, id));
  const auto answer = co_await ask(request);
  if (!answer) co_return answer.error();
  const auto offset = answer->head.field("Upload-Offset");
  if (answer->head.status != 204 || !offset) {
    // Whoever does not know the question does not know where the upload is.
    const bool refusal = answer->head.status >= 500;
    if (refusal) co_return refused(origin(), *answer);
    co_return Error(Errc::not_found, origin().to_string() + " knows no such upload");
  }
  const auto bytes = whole_number(*offset);
  if (!bytes) {
    co_return Error(Errc::corrupt, origin().to_string() + " gives no number as Upload-Offset: " +
                                       log_escaped(*offset));
  }
  co_return *bytes;
}

Task<Result<>> OriginClient::begin_chunk(std::string_view name_space, Digest digest,
                                         std::string_view id, std::uint64_t start,
                                         std::uint64_t end) {
  auto request = request_of("PATCH", upload_path(name_space, digest, id));
  // Kraken's dialect: the end is exclusive, and there is no total (core/content_range.h).
  request.fields.emplace_back("Content-Range", std::to_string(start) + "-" + std::to_string(end));
  request.body_bytes = end - start;
  co_return co_await connection_.begin(request);
}

Task<Result<bool>> OriginClient::end_chunk() {
  const auto head = co_await connection_.answer();
  if (!head) co_return head.error();
  const auto text = co_await connection_.read_text(kTextBytesMax);
  if (!text) co_return text.error();
  if (head->status == 409) co_return false;
  if (head->status != 200) co_return refused(origin(), head->status, *text);
  co_return true;
}

Task<Result<>> OriginClient::commit_upload(std::string_view name_space, Digest digest,
                                           std::string_view id) {
  const auto request = request_of("PUT", upload_path(name_space, digest, id));
  const auto answer = co_await ask(request);
  if (!answer) co_return answer.error();
  if (answer->head.status == 200 || answer->head.status == 409) co_return Result<>();
  co_return refused(origin(), *answer);
}

Task<Result<OriginClient::Download>> OriginClient::begin_download(std::string_view name_space,
                                                                  Digest digest,
                                                                  std::uint64_t first) {
  auto request = request_of("GET", blob_path(name_space, digest));
  if (first > 0) request.fields.emplace_back("Range", "bytes=" + std::to_string(first) + "-");
  if (auto begun = co_await connection_.begin(request); !begun) {
    co_return std::move(begun).error();
  }
  const auto head = co_await connection_.answer();
  if (!head) co_return head.error();
  Download download{.ready = true, .first = 0, .bytes = head->content_length};
  if (head->status == 200) co_return download;
  if (head->status == 206) {
    const auto range = head->field("Content-Range");
    const auto begin = range ? first_of_range(*range) : std::nullopt;
    if (begin) {
      download.first = *begin;
      co_return download;
    }
  }
  const auto text = co_await connection_.read_text(kTextBytesMax);
  if (!text) co_return text.error();
  download.ready = false;
  if (head->status == 202) co_return download;
  co_return refused(origin(), head->status, *text);
}

Task<Result<>> OriginClient::remove(Digest digest) {
  const auto request = request_of("DELETE", "/internal/blobs/" + digest.to_string());
  const auto answer = co_await ask(request);
  if (!answer) co_return answer.error();
  if (answer->head.status / 100 == 2) co_return Result<>();
  co_return refused(origin(), *answer);
}

Task<Result<std::string>> OriginClient::locations(Digest digest) {
  const auto request = request_of("GET", "/blobs/" + digest.to_string() + "/locations");
  const auto answer = co_await ask(request);
  if (!answer) co_return answer.error();
  const auto labels = answer->head.field("Origin-Locations");
  if (answer->head.status == 200 && labels && !labels->empty()) co_return std::string(*labels);
  co_return refused(origin(), *answer);
}

Task<Result<std::string>> OriginClient::list(std::optional<Digest> after, std::size_t limit) {
  std::string target = "/cas?limit=" + std::to_string(limit);
  if (after) target += "&after=" + after->hex();
  const auto request = request_of("GET", std::move(target));
  auto answer = co_await ask(request);
  if (!answer) co_return std::move(answer).error();
  if (answer->head.status != 200) co_return refused(origin(), *answer);
  co_return std::move(answer->text);
}

}  // namespace orlop
