#include "base/cidr.h"

#include <arpa/inet.h>

#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace {

using orlop::Cidr;
using orlop::Errc;

/// 4 or 16 bytes, as a socket gives them.
std::vector<std::uint8_t> address(const std::string& text) {
  std::vector<std::uint8_t> bytes(text.find(':') == std::string::npos ? 4 : 16);
  REQUIRE(inet_pton(bytes.size() == 4 ? AF_INET : AF_INET6, text.c_str(), bytes.data()) == 1);
  return bytes;
}

TEST_CASE("cidr: a block contains exactly the addresses that share its prefix") {
  const auto [block, inside, outside] = GENERATE(table<std::string, std::string, std::string>({
      {"10.0.0.0/8", "10.255.255.255", "11.0.0.0"},
      {"10.128.0.0/9", "10.128.0.0", "10.127.255.255"},
      {"192.168.1.4/30", "192.168.1.7", "192.168.1.8"},
      {"127.0.0.1", "127.0.0.1", "127.0.0.2"},
      {"127.0.0.1/32", "127.0.0.1", "126.0.0.1"},
      {"0.0.0.0/0", "203.0.113.9", "2001:db8::1"},
      {"fd00::/8", "fdff::1", "fe00::1"},
      {"2001:db8::/33", "2001:db8:7fff::", "2001:db8:8000::"},
      {"::1", "::1", "::2"},
      {"::/0", "2001:db8::1", "203.0.113.9"},
      {"::/1", "7fff::", "8000::"},
  }));
  INFO(block);
  const auto parsed = Cidr::parse(block);
  REQUIRE(parsed);

  CHECK(parsed->contains(address(inside)));
  CHECK_FALSE(parsed->contains(address(outside)));
}

TEST_CASE("cidr: an IPv4 client matches alike when it comes over a dual-stack socket") {
  const auto block = Cidr::parse("10.0.0.0/8");
  REQUIRE(block);

  CHECK(block->contains(address("::ffff:10.1.2.3")));
  CHECK_FALSE(block->contains(address("::ffff:11.1.2.3")));
  CHECK_FALSE(block->contains(address("::10.1.2.3")));
  CHECK(*Cidr::parse("::ffff:10.0.0.0/104") == *block);
}

TEST_CASE("cidr: what is not 4 or 16 bytes is in no block") {
  const auto block = Cidr::parse("0.0.0.0/0");
  REQUIRE(block);

  CHECK_FALSE(block->contains({}));
  CHECK_FALSE(block->contains(std::vector<std::uint8_t>(5)));
}

TEST_CASE("cidr: malformed blocks are refused") {
  const std::string text =
      GENERATE(as<std::string>{}, "", "/", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1",
               "10.0.0.0/+8", "10.0.0.0/8 ", " 10.0.0.0/8", "10.0.0/8", "10.0.0.0/8/8",
               "010.0.0.0/8", "::/129", "::/0008", "localhost", "[::1]", "fe80::1%eth0",
               "1.2.3.4:80", std::string("1.2.3.4\0", 8), "10.0.0.0/4294967304");
  INFO(text);
  const auto parsed = Cidr::parse(text);

  REQUIRE_FALSE(parsed);
  CHECK(parsed.error().code() == Errc::invalid_argument);
}

TEST_CASE("cidr: address bits beyond the prefix are refused, and the error names the block") {
  const auto [text, want] = GENERATE(table<std::string, std::string>({
      {"10.1.2.3/8", "10.0.0.0/8"},
      {"10.1.2.3/0", "0.0.0.0/0"},
      {"fd00::1/64", "fd00::/64"},
  }));
  const auto parsed = Cidr::parse(text);

  REQUIRE_FALSE(parsed);
  CHECK_THAT(parsed.error().detail(), Catch::Contains(want));
}

TEST_CASE("cidr: a block is written as it is read") {
  const std::string text =
      GENERATE("10.0.0.0/8", "127.0.0.1/32", "0.0.0.0/0", "fd00::/8", "::1/128", "::/0");
  const auto parsed = Cidr::parse(text);

  REQUIRE(parsed);
  CHECK(parsed->to_string() == text);
  CHECK(*Cidr::parse(parsed->to_string()) == *parsed);
}

TEST_CASE("cidr: an IP address is a literal and nothing else") {
  CHECK(orlop::is_ip_address("0.0.0.0"));
  CHECK(orlop::is_ip_address("::"));
  CHECK_FALSE(orlop::is_ip_address("localhost"));
  CHECK_FALSE(orlop::is_ip_address("10.0.0.0/8"));
  CHECK_FALSE(orlop::is_ip_address("[::1]"));
  CHECK_FALSE(orlop::is_ip_address(""));
}

}  // namespace
