#include "server/multipart.h"

#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include <set>
#include <string>

#include "core/digester.h"
#include "server/reply.h"

namespace orlop {
namespace {

constexpr std::string_view kTen = "0123456789";

using Ranges = std::vector<ByteRange>;

Request get_ranges(std::string range) {
  Request request;
  request.method = http::verb::get;
  request.fields.emplace_back("Range", std::move(range));
  return request;
}

OpenBlob ten_bytes() { return OpenBlob(digest_of(kTen), kTen.size(), UniqueFd()); }

std::string field_of(const Reply& reply, std::string_view name) {
  for (const auto& [field, value] : reply.fields) {
    if (field == name) return value;
  }
  return "";
}

TEST_CASE("coalesced: ranges that overlap, repeat or touch become one, the others stay") {
  CHECK(coalesced(Ranges{}) == Ranges{});
  CHECK(coalesced(Ranges{{3, 5}}) == Ranges{{3, 5}});
  CHECK(coalesced(Ranges{{0, 1}, {3, 4}}) == Ranges{{0, 1}, {3, 4}});
  CHECK(coalesced(Ranges{{0, 1}, {2, 4}}) == Ranges{{0, 4}});
  CHECK(coalesced(Ranges{{2, 4}, {0, 1}}) == Ranges{{0, 4}});
  CHECK(coalesced(Ranges{{0, 5}, {3, 9}}) == Ranges{{0, 9}});
  CHECK(coalesced(Ranges{{0, 9}, {3, 4}}) == Ranges{{0, 9}});
  CHECK(coalesced(Ranges{{7, 7}, {7, 7}, {7, 7}}) == Ranges{{7, 7}});
  CHECK(coalesced(Ranges{{0, 9}, {3, 4}, {8, 12}, {14, 14}}) == Ranges{{0, 12}, {14, 14}});
}

TEST_CASE("coalesced: the order is that in which the first of each was asked for") {
  CHECK(coalesced(Ranges{{8, 9}, {0, 1}, {4, 5}}) == Ranges{{8, 9}, {0, 1}, {4, 5}});
  CHECK(coalesced(Ranges{{8, 9}, {4, 5}, {0, 1}, {7, 7}}) == Ranges{{7, 9}, {4, 5}, {0, 1}});
  CHECK(coalesced(Ranges{{4, 5}, {8, 9}, {0, 3}}) == Ranges{{0, 5}, {8, 9}});
}

TEST_CASE("coalesced: the largest number does not wrap") {
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  CHECK(coalesced(Ranges{{5, kLargest}, {0, 1}, {7, 8}}) == Ranges{{5, kLargest}, {0, 1}});
  CHECK(coalesced(Ranges{{kLargest, kLargest}, {0, kLargest - 1}}) == Ranges{{0, kLargest}});
}

TEST_CASE("coalesced: the same bytes as asked for, each once, with a gap between any two") {
  const auto seed = GENERATE(take(20, random(0U, 1U << 30)));
  CAPTURE(seed);
  std::mt19937 engine(seed);
  constexpr std::uint64_t kBlob = 300;
  Ranges asked;
  std::set<std::uint64_t> wanted;
  for (std::uint32_t i = 0; i < seed % 60; ++i) {
    const std::uint64_t first = engine() % kBlob;
    const std::uint64_t last = std::min<std::uint64_t>(kBlob - 1, first + engine() % 7);
    asked.push_back({first, last});
    for (auto at = first; at <= last; ++at) wanted.insert(at);
  }

  const auto result = coalesced(asked);

  std::size_t sum = 0;
  std::set<std::uint64_t> got;
  for (const auto& range : result) {
    sum += range.length();
    for (auto at = range.first; at <= range.last; ++at) got.insert(at);
    CHECK((range.first == 0 || !wanted.contains(range.first - 1)));
    CHECK_FALSE(wanted.contains(range.last + 1));
  }
  CHECK(got == wanted);
  CHECK(sum == wanted.size());
}

TEST_CASE("multipart: the text of RFC 9110, section 14.6, and its exact length") {
  const Multipart multipart(Ranges{{0, 1}, {5, 9}}, 10, "text/x", "B");

  const auto text = multipart.text(std::as_bytes(std::span(kTen)));

  CHECK(text ==
        "--B\r\nContent-Type: text/x\r\nContent-Range: bytes 0-1/10\r\n\r\n01"
        "\r\n--B\r\nContent-Type: text/x\r\nContent-Range: bytes 5-9/10\r\n\r\n56789"
        "\r\n--B--\r\n");
  CHECK(multipart.size_bytes() == text.size());
  CHECK(multipart.parts().size() == 2);
}

TEST_CASE("multipart: a part has the promised 200 bytes of its own at most, however large") {
  constexpr auto kLargest = std::numeric_limits<std::uint64_t>::max();
  const Ranges far = {{kLargest - 9, kLargest - 9}, {kLargest - 1, kLargest - 1}};
  const Multipart multipart(far, kLargest, kOctets, random_boundary());
  for (const auto& part : multipart.parts()) CHECK(part.head.size() <= 200);
}

TEST_CASE("boundary: new each time, of one length, legal, and in no header of ours") {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_boundary());
  CHECK(seen.size() == 1000);
  const auto head = head_of(blob_reply(ten_bytes(), get_ranges("none")), Request(), true, "now");
  for (const auto& boundary : seen) {
    CHECK(boundary.size() == seen.begin()->size());
    CHECK(boundary.size() <= 70);  // RFC 2046, section 5.1.1.
    // Only what needs no quotes in a Content-Type.
    CHECK(boundary.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos);
    CHECK(head.find(boundary.substr(0, 11)) == std::string::npos);
  }
}

TEST_CASE("blob reply: several ranges are the parts of a blob, with the length of all of it") {
  const auto reply = blob_reply(ten_bytes(), get_ranges("bytes=8-,0-1,4-4,99-"));

  CHECK(reply.status == 206);
  REQUIRE(reply.multipart);
  REQUIRE(reply.blob);
  CHECK(reply.content_type.empty());
  const std::string kType = "multipart/byteranges; boundary=";
  const auto type = field_of(reply, "Content-Type");
  REQUIRE(type.starts_with(kType));
  CHECK(field_of(reply, "ETag") == '"' + digest_of(kTen).to_string() + '"');
  CHECK(field_of(reply, "Accept-Ranges") == "bytes");
  CHECK(field_of(reply, "Content-Range").empty());
  CHECK(reply.multipart->parts().size() == 3);
  CHECK(reply.multipart->parts().front().range == ByteRange{8, 9});
  CHECK(reply.multipart->end() == "\r\n--" + type.substr(kType.size()) + "--\r\n");
  CHECK(reply.body_bytes() == reply.multipart->text(std::as_bytes(std::span(kTen))).size());
}

TEST_CASE("blob reply: several ranges that make one are answered as one") {
  for (const std::string range : {"bytes=0-1,2-4", "bytes=2-4,0-3,1-2", "bytes=0-4,20-"}) {
    INFO(range);
    const auto reply = blob_reply(ten_bytes(), get_ranges(range));
    CHECK(reply.status == 206);
    CHECK_FALSE(reply.multipart);
    CHECK(field_of(reply, "Content-Range") == "bytes 0-4/10");
    CHECK(reply.content_type == kOctets);
    CHECK(reply.body_bytes() == 5);
  }
}

TEST_CASE("blob reply: the whole blob asked for a thousand times is sent once") {
  std::string range = "bytes=0-";
  for (std::size_t i = 1; i < kRangeSpecsMax; ++i) range += ",0-";
  CHECK(blob_reply(ten_bytes(), get_ranges(range)).body_bytes() == 10);
  // One more than is allowed: the header is ignored.
  const auto reply = blob_reply(ten_bytes(), get_ranges(range + ",0-"));
  CHECK(reply.status == 200);
  CHECK(reply.body_bytes() == 10);
}

TEST_CASE("blob reply: HEAD ignores several ranges too") {
  auto request = get_ranges("bytes=0-1,5-6");
  request.method = http::verb::head;
  const auto reply = blob_reply(ten_bytes(), request);
  CHECK(reply.status == 200);
  CHECK_FALSE(reply.multipart);
  CHECK(reply.body_bytes() == 10);
}

}  // namespace
}  // namespace orlop
