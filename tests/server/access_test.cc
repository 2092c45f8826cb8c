#include "server/access.h"

#include <catch2/catch.hpp>

namespace orlop {
namespace {

Request from(std::string_view peer, std::string_view forwarded_by = {}) {
  Request request;
  request.peer = asio::ip::make_address(std::string(peer));
  if (!forwarded_by.empty()) request.fields.emplace_back(forwarded_by, "for=127.0.0.1");
  return request;
}

AccessRules rules(std::initializer_list<std::string_view> allowed = {}) {
  AccessRules rules;
  for (const auto text : allowed) rules.admin_allow.push_back(*Cidr::parse(text));
  return rules;
}

bool may_operate(const AccessRules& rules, const Request& request) {
  return !rules.refusal(RouteClass::operate, request);
}

TEST_CASE("access: anybody may read and write, from anywhere") {
  const auto request = from("203.0.113.9", "Forwarded");
  CHECK_FALSE(rules().refusal(RouteClass::read, request));
  CHECK_FALSE(rules().refusal(RouteClass::write, request));
  CHECK(rules().refusal(RouteClass::operate, request));
}

TEST_CASE("access: this machine may operate, by whichever loopback address") {
  for (const auto* peer : {"127.0.0.1", "127.8.9.10", "::1", "::ffff:127.0.0.1"}) {
    INFO(peer);
    CHECK(may_operate(rules(), from(peer)));
  }
  for (const auto* peer : {"10.0.0.1", "0.0.0.0", "128.0.0.1", "::", "::2", "::ffff:10.0.0.1",
                           "::127.0.0.1", "fe80::1", "64:ff9b::7f00:1"}) {
    INFO(peer);
    CHECK_FALSE(may_operate(rules(), from(peer)));
  }
}

TEST_CASE("access: a forwarded request is not this machine's, however the field is spelled") {
  for (const auto* field : {"Forwarded", "forwarded", "X-Forwarded-For", "x-forwarded-FOR"}) {
    INFO(field);
    CHECK_FALSE(may_operate(rules(), from("127.0.0.1", field)));
    CHECK_FALSE(may_operate(rules(), from("::1", field)));
    CHECK_FALSE(may_operate(rules(), from("::ffff:127.0.0.1", field)));
  }
}

TEST_CASE("access: what a forwarded request says of its origin allows nothing") {
  CHECK_FALSE(may_operate(rules({"10.0.0.0/8"}), from("203.0.113.9", "X-Forwarded-For")));
  auto request = from("203.0.113.9");
  request.fields.emplace_back("X-Forwarded-For", "10.0.0.1");
  request.fields.emplace_back("X-Real-IP", "127.0.0.1");
  CHECK_FALSE(may_operate(rules({"10.0.0.0/8"}), request));
}

TEST_CASE("access: admin.allow admits its networks and no others") {
  const auto allow = rules({"10.1.0.0/16", "2001:db8::/32", "192.0.2.7"});
  for (const auto* peer :
       {"10.1.0.0", "10.1.255.255", "::ffff:10.1.2.3", "2001:db8::1", "192.0.2.7"}) {
    INFO(peer);
    CHECK(may_operate(allow, from(peer)));
  }
  for (const auto* peer :
       {"10.0.255.255", "10.2.0.0", "2001:db9::", "192.0.2.8", "::10.1.0.1", "::ffff:10.2.0.1"}) {
    INFO(peer);
    CHECK_FALSE(may_operate(allow, from(peer)));
  }
}

TEST_CASE("access: a refusal names the address and the setting") {
  const auto refusal = rules().refusal(RouteClass::operate, from("::ffff:10.0.0.1", "Forwarded"));
  REQUIRE(refusal);
  CHECK(refusal->find("10.0.0.1") != std::string::npos);
  CHECK(refusal->find("::ffff") == std::string::npos);
  CHECK(refusal->find("admin.allow") != std::string::npos);
  CHECK(refusal->find("forwarded") != std::string::npos);
}

}  // namespace
}  // namespace orlop
