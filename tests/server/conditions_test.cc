#include "server/conditions.h"

#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "core/digester.h"
#include "server/reply.h"

namespace orlop {
namespace {

constexpr std::string_view kEtag = "\"e\"";

using Fields = std::vector<std::pair<std::string, std::string>>;

Request request_with(Fields fields, http::verb method = http::verb::get) {
  Request request;
  request.method = method;
  request.fields = std::move(fields);
  return request;
}

Precondition check(Fields fields) {
  return check_preconditions(request_with(std::move(fields)), kEtag);
}

TEST_CASE("entity tags: a list is read in order, weak ones marked, empty elements skipped") {
  const auto list = parse_entity_tags(" ,\"a\",\t W/\"b,c\" , , \"\",\"\x80\xff!~\" ,");
  REQUIRE(list);
  CHECK_FALSE(list->any);
  CHECK(list->tags ==
        std::vector<EntityTag>{
            {false, "\"a\""}, {true, "\"b,c\""}, {false, "\"\""}, {false, "\"\x80\xff!~\""}});
}

TEST_CASE("entity tags: an asterisk is any tag, and an empty list none") {
  CHECK(parse_entity_tags(" *\t") == EntityTags{.any = true, .tags = {}});
  for (const std::string_view empty : {"", " ", ",", " , ,"}) {
    CHECK(parse_entity_tags(empty) == EntityTags{});
  }
}

TEST_CASE("entity tags: what is malformed is refused, wherever it stands in the list") {
  for (const std::string part :
       {"a", "\"", "\"a", "a\"", "w/\"a\"", "W\"a\"", "W/", "W/ \"a\"", "W/W/\"a\"", "\"a b\"",
        "\"a\tb\"", "\"a\x7f\"", "\"a\" \"b\"", "\"a\"\"b\"", "\"a\"b", "'a'", "*", "**"}) {
    INFO(part);
    if (part != "*") CHECK_FALSE(parse_entity_tags(part));
    CHECK_FALSE(parse_entity_tags("\"x\"," + part));
    CHECK_FALSE(parse_entity_tags(part + ",\"x\""));
  }
}

TEST_CASE("entity tags: there is a bound to how many are read") {
  std::string list;
  for (std::size_t i = 0; i < kEntityTagsMax; ++i) list += "\"\",";
  const auto parsed = parse_entity_tags(list);
  REQUIRE(parsed);
  CHECK(parsed->tags.size() == kEntityTagsMax);
  CHECK_FALSE(parse_entity_tags(list + "\"\""));
}

TEST_CASE("preconditions: without any, and with dates alone, there is nothing to check") {
  CHECK(check({}) == Precondition::met);
  CHECK(check({{"If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"}}) == Precondition::met);
  CHECK(check({{"If-Unmodified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"}}) == Precondition::met);
}

TEST_CASE("preconditions: If-None-Match is not met by the tag, strong or weak, and by *") {
  for (const std::string value :
       {"\"e\"", "W/\"e\"", "*", "\"x\", \"e\"", "W/\"x\",W/\"e\",\"y\""}) {
    INFO(value);
    CHECK(check({{"if-none-match", value}}) == Precondition::not_modified);
  }
  for (const std::string value : {"\"x\"", "e", "\"E\"", "\"e", "", "\"e\",*", "\"e\",x"}) {
    INFO(value);
    CHECK(check({{"If-None-Match", value}}) == Precondition::met);
  }
}

TEST_CASE("preconditions: If-Match is met by the strong tag and by *, and by nothing else") {
  for (const std::string value : {"\"e\"", "*", "\"x\", \"e\"", "W/\"e\",\"e\""}) {
    INFO(value);
    CHECK(check({{"if-match", value}}) == Precondition::met);
  }
  for (const std::string value : {"\"x\"", "W/\"e\"", "e", "", "\"e\",*", "\"e\" x"}) {
    INFO(value);
    CHECK(check({{"If-Match", value}}) == Precondition::failed);
  }
}

TEST_CASE("preconditions: fields of one name are one list") {
  CHECK(check({{"If-None-Match", "\"x\""}, {"if-none-match", "\"e\""}}) ==
        Precondition::not_modified);
  CHECK(check({{"If-Match", "\"x\""}, {"If-Match", "\"e\""}}) == Precondition::met);
  // An asterisk in a list is malformed.
  CHECK(check({{"If-Match", "*"}, {"If-Match", "\"e\""}}) == Precondition::failed);
}

TEST_CASE("preconditions: If-Match comes first (RFC 9110, section 13.2.2)") {
  CHECK(check({{"If-None-Match", "\"e\""}, {"If-Match", "\"x\""}}) == Precondition::failed);
  CHECK(check({{"If-None-Match", "\"e\""}, {"If-Match", "\"e\""}}) == Precondition::not_modified);
}

TEST_CASE("if-range: only our strong tag, once, lets the range apply") {
  const auto applies = [](Fields fields) {
    return range_applies(request_with(std::move(fields)), kEtag);
  };
  CHECK(applies({}));
  CHECK(applies({{"If-Range", " \"e\" "}}));
  for (const std::string value :
       {"\"x\"", "W/\"e\"", "e", "*", "", "\"e\",\"e\"", "Thu, 01 Jan 1970 00:00:00 GMT"}) {
    INFO(value);
    CHECK_FALSE(applies({{"If-Range", value}}));
  }
  CHECK_FALSE(applies({{"If-Range", "\"e\""}, {"If-Range", "\"e\""}}));
}

TEST_CASE("blob reply: conditions come before ranges, and If-Range decides about them") {
  const auto digest = digest_of("0123456789");
  const auto etag = '"' + digest.to_string() + '"';
  struct Case {
    Fields fields;
    unsigned status;
    std::uint64_t body_bytes;
  };
  const auto one = GENERATE_COPY(values<Case>({
      {{{"If-None-Match", etag}}, 304, 0},
      {{{"If-None-Match", etag}, {"Range", "bytes=0-1"}}, 304, 0},
      {{{"If-None-Match", etag}, {"Range", "bytes=99-"}}, 304, 0},
      {{{"If-None-Match", "\"x\""}, {"Range", "bytes=0-1"}}, 206, 2},
      {{{"If-Match", "\"x\""}, {"Range", "bytes=0-1"}}, 412, 0},
      {{{"If-Match", etag}, {"Range", "bytes=0-1"}}, 206, 2},
      {{{"If-Range", etag}, {"Range", "bytes=0-1"}}, 206, 2},
      {{{"If-Range", etag}, {"Range", "bytes=99-"}}, 416, 0},
      {{{"If-Range", "\"x\""}, {"Range", "bytes=0-1"}}, 200, 10},
      {{{"If-Range", "\"x\""}, {"Range", "bytes=99-"}}, 200, 10},
      {{{"If-Range", "W/" + etag}, {"Range", "bytes=0-1"}}, 200, 10},
      {{{"If-Range", etag}}, 200, 10},
      {{{"Range", "bytes=0-1"}, {"Range", "bytes=0-1"}}, 200, 10},
  }));
  CAPTURE(one.fields);

  const auto reply = blob_reply(OpenBlob(digest, 10, UniqueFd()), request_with(one.fields));

  CHECK(reply.status == one.status);
  CHECK(reply.body_bytes() == one.body_bytes);
  CHECK((reply.blob == nullptr) == (one.body_bytes == 0));
  const std::pair<std::string_view, std::string> etag_field("ETag", etag);
  CHECK((reply.fields.front() == etag_field) == (one.status != 416));
}

TEST_CASE("blob reply: HEAD is answered under the same conditions") {
  const auto digest = digest_of("0123456789");
  const auto etag = '"' + digest.to_string() + '"';
  const auto status = [&](Fields fields) {
    const auto request = request_with(std::move(fields), http::verb::head);
    return blob_reply(OpenBlob(digest, 10, UniqueFd()), request).status;
  };
  CHECK(status({{"If-None-Match", etag}}) == 304);
  CHECK(status({{"If-Match", "\"x\""}}) == 412);
  CHECK(status({{"If-Match", etag}, {"Range", "bytes=0-1"}}) == 200);
}

TEST_CASE("head: 304 says nothing of a length, 412 says 0, and both have a reason") {
  const auto request = request_with({});
  const auto not_modified = head_of(empty_reply(304), request, true, "now");
  CHECK(not_modified == "HTTP/1.1 304 Not Modified\r\nDate: now\r\n\r\n");
  const auto failed = head_of(empty_reply(412), request, true, "now");
  CHECK(failed == "HTTP/1.1 412 Precondition Failed\r\nDate: now\r\nContent-Length: 0\r\n\r\n");
}

}  // namespace
}  // namespace orlop
