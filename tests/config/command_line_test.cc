#include "config/command_line.h"

#include <catch2/catch.hpp>
#include <string>
#include <vector>

#include "tests/config/written_files.h"

namespace {

using namespace orlop;
using Catch::Contains;

Result<CommandLine> parse(const std::vector<const char*>& args) { return parse_command_line(args); }

TEST_CASE("flags: one or two dashes, the value after a space or an equals sign") {
  const auto args =
      GENERATE(values<std::vector<const char*>>({{"-peer-port", "7"},
                                                 {"--peer-port", "7"},
                                                 {"-peer-port=7"},
                                                 {"--peer-port=7"},
                                                 {"-peer-port=9", "-peer-port", "7"}}));
  const auto line = parse(args);

  REQUIRE(line);
  REQUIRE(line->peer_port);
  CHECK(line->peer_port->text == "7");
  CHECK(line->peer_port->source == "-peer-port");
}

TEST_CASE("flags: a switch takes no word, and its value only by an equals sign") {
  const auto line = parse({"-lenient", "-zone", "z"});
  const auto off = parse({"-lenient=false"});

  REQUIRE(line);
  CHECK(line->lenient->text == "true");
  CHECK(line->zone->text == "z");
  REQUIRE(off);
  CHECK(off->lenient->text == "false");
}

TEST_CASE("flags: -set may be repeated and keeps its order and its equals signs") {
  const auto line = parse({"-set", "a=1", "-set=b=c=d"});

  REQUIRE(line);
  REQUIRE(line->set.size() == 2);
  CHECK(line->set[0].text == "a=1");
  CHECK(line->set[1].text == "b=c=d");
}

TEST_CASE("flags: an unknown flag is refused, and the nearest one is named") {
  const auto line = parse({"-blobserver-prot", "80"});
  const auto strange = parse({"--frobnicate"});

  REQUIRE_FALSE(line);
  CHECK(line.error().code() == Errc::invalid_argument);
  CHECK_THAT(line.error().detail(), Contains("did you mean -blobserver-port?"));
  REQUIRE_FALSE(strange);
  CHECK_THAT(strange.error().detail(), Contains("-frobnicate: unknown flag"));
}

TEST_CASE("flags: a missing value and a word that is no flag are refused") {
  CHECK_FALSE(parse({"-config"}));
  CHECK_FALSE(parse({"origin.yaml"}));
  CHECK_FALSE(parse({""}));
  CHECK_FALSE(parse({"-"}));
  CHECK_FALSE(parse({"--"}));
  CHECK_FALSE(parse({"-=x"}));
}

TEST_CASE("environment: each flag has its variable, and an empty one is not set") {
  std::vector<std::string> notices;
  const auto line = read_environment({{"ORLOP_BLOBSERVER_PORT", "80"},
                                      {"ORLOP_DATA", ""},
                                      {"ORLOP_LENIENT", "true"},
                                      {"ORLOP_SET", "log.level=debug"},
                                      {"PATH", "/bin"}},
                                     notices);

  REQUIRE(line.blobserver_port);
  CHECK(line.blobserver_port->text == "80");
  CHECK(line.blobserver_port->source == "ORLOP_BLOBSERVER_PORT");
  CHECK_FALSE(line.data);
  CHECK(line.lenient);
  CHECK(line.set.size() == 1);
  CHECK(notices.empty());
}

TEST_CASE("environment: an unknown variable is told, with the one that was meant") {
  // Kubernetes sets the first for a service named "orlop": it must not stop the start.
  const auto config = load({}, {{"ORLOP_SERVICE_HOST", "10.0.0.1"}, {"ORLOP_LISTN", "::1"}});

  REQUIRE(config);
  CHECK_THAT(notices_of(config), Contains("ORLOP_SERVICE_HOST: unknown variable"));
  CHECK_THAT(notices_of(config), Contains("did you mean ORLOP_LISTEN?"));
}

TEST_CASE("flags: -help asks for nothing else, and the usage names every flag of Kraken") {
  const auto config = load({"-help", "-config", "/nowhere"});

  REQUIRE(config);
  CHECK(config->help);
  for (const auto* flag : {"-config", "-secrets", "-cluster", "-zone", "-peer-ip", "-peer-port",
                           "-blobserver-hostname", "-blobserver-port", "-mutex-profile-fraction"}) {
    CHECK_THAT(usage(), Contains("  " + std::string(flag)));
  }
}

TEST_CASE("flags: addresses and ports are checked") {
  const auto [flag, value] = GENERATE(table<std::string, std::string>({
      {"-blobserver-port", "65536"},
      {"-blobserver-port", "http"},
      {"-blobserver-port", ""},
      {"-blobserver-port", "80 "},
      {"-peer-port", "0"},
      {"-peer-port", "-1"},
      {"-listen", "localhost"},
      {"-listen", "[::1]"},
      {"-listen", "127.0.0.1:80"},
      {"-peer-ip", "10.0.0.0/8"},
      {"-durability", "sometimes"},
      {"-log-level", "loud"},
      {"-lenient=maybe", "-help=x"},
      {"-set", "castore.cache_dir"},
      {"-set", "=x"},
      {"-set", "extends=x.yaml"},
      {"-set", "a.b.c.d.e.f.g.h.i.j.k.l.m.n.o.p.q=1"},
      {"-set", "castore.capacity=[1"},
  }));
  INFO(flag << " " << value);
  const auto config = flag == "-lenient=maybe" ? load({flag}) : load({flag, value});

  REQUIRE_FALSE(config);
  CHECK(config.error().code() == Errc::invalid_argument);
  CHECK_THAT(config.error().detail(), Catch::StartsWith(flag.substr(0, flag.find('='))));
}

TEST_CASE("flags: -mutex-profile-fraction is accepted and told") {
  const auto config = load({"-mutex-profile-fraction", "5"});

  REQUIRE(config);
  CHECK_THAT(notices_of(config), Contains("-mutex-profile-fraction: no effect"));
}

}  // namespace
