#include "http/endpoint.h"

#include <catch2/catch.hpp>
#include <string>

namespace orlop {
namespace {

TEST_CASE("endpoint: a host and a port, with or without http") {
  const auto [text, host, port] = GENERATE(table<std::string, std::string, int>({
      {"origin1:15002", "origin1", 15002},
      {"10.0.0.1:1", "10.0.0.1", 1},
      {"[::1]:65535", "::1", 65535},
      {"http://origin1:15002", "origin1", 15002},
      {"HTTP://origin1:15002/", "origin1", 15002},
      {"http://origin1", "origin1", 80},
      {"http://[fe80::1]/", "fe80::1", 80},
  }));
  INFO(text);
  const auto endpoint = parse_endpoint(text);
  REQUIRE(endpoint);
  CHECK(endpoint->host == host);
  CHECK(endpoint->port == port);
}

TEST_CASE("endpoint: what is none is refused and named") {
  const std::string text =
      GENERATE("", ":", "origin1", "origin1:", "origin1:0", "origin1:65536", "origin1:1x",
               "origin1:-1", "::1:80", "[::1", "[::1]", "[::1]x", "[::1]:", "[]:80",
               "https://origin1:15002", "http://", "http:///", "http://origin1:80/path",
               "http://user@origin1:80", "a b:80", "a\r\nX: y:80", "a/b:80");
  INFO(text);
  const auto endpoint = parse_endpoint(text);
  REQUIRE_FALSE(endpoint);
  CHECK(endpoint.error().code() == Errc::invalid_argument);
  CHECK(endpoint.error().detail().find("is no address of a server") != std::string::npos);
}

TEST_CASE("endpoint: an overlong host is refused") {
  CHECK(parse_endpoint(std::string(253, 'a') + ":80"));
  CHECK_FALSE(parse_endpoint(std::string(254, 'a') + ":80"));
}

TEST_CASE("endpoint: its text is what a Host field and a ring label hold") {
  CHECK(Endpoint{.host = "origin1", .port = 15002}.to_string() == "origin1:15002");
  CHECK(Endpoint{.host = "::1", .port = 80}.to_string() == "[::1]:80");
}

}  // namespace
}  // namespace orlop
