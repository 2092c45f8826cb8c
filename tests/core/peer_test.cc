#include <catch2/catch.hpp>

#include "core/peer_context.h"
#include "core/peer_id.h"
#include "tests/core/golden.h"

namespace orlop {
namespace {

TEST_CASE("peer: address ids and the context's JSON are the original's", "[golden]") {
  const auto vectors = golden("peers.json");
  REQUIRE(vectors.at("cases").size() >= 5);
  for (const auto& one : vectors.at("cases")) {
    const auto ip = one.at("ip").get<std::string>();
    const auto port = one.at("port").get<std::uint16_t>();
    INFO(ip << " " << port);
    const auto id = PeerId::from_address(ip, port);
    CHECK(id.hex() == one.at("peer_id"));
    const PeerContext context{ip, port, id, "zone1", "cluster1", true};
    CHECK(to_json(context) == one.at("peercontext_json"));
  }
}

TEST_CASE("peer id: the worked example of the reference", "[golden]") {
  CHECK(PeerId::from_address("10.0.0.1", 15001).hex() ==
        "19ea27e5923f34c9255505f5ca863c5700e9a2c9");
}

TEST_CASE("peer context: strings are escaped for HTML, and an agent is no origin") {
  const PeerContext context{"<h>", 1, PeerId({}), "a&b", "\"c\"", false};
  CHECK(to_json(context) ==
        R"({"ip":"\u003ch\u003e","port":1,"peer_id":[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0],)"
        R"("zone":"a\u0026b","cluster":"\"c\"","origin":false})");
}

TEST_CASE("peer id: reads 40 lower-case digits and nothing else") {
  const std::string hex = "19ea27e5923f34c9255505f5ca863c5700e9a2c9";
  CHECK(PeerId::parse(hex)->hex() == hex);
  for (const auto& text :
       {std::string(), hex + "0", hex.substr(2), "G" + hex.substr(1), "19EA" + hex.substr(4)}) {
    INFO(text);
    const auto refused = PeerId::parse(text);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code() == Errc::invalid_argument);
  }
}

TEST_CASE("peer id: orders as its hex text does") {
  Random random(3);
  for (int round = 0; round < 100; ++round) {
    const auto a = PeerId::random(random);
    const auto b = PeerId::random(random);
    CHECK((a < b) == (a.hex() < b.hex()));
    CHECK(a != b);
  }
}

TEST_CASE("peer id: chance comes from the generator alone") {
  Random first(5);
  Random second(5);
  CHECK(PeerId::random(first) == PeerId::random(second));
}

}  // namespace
}  // namespace orlop
