#include "cli/client_flags.h"

#include <array>
#include <catch2/catch.hpp>
#include <string>
#include <vector>

namespace orlop {
namespace {

using Args = std::vector<const char*>;

Result<ClientFlags> parse(const Args& args, const char* variable = nullptr) {
  constexpr std::array<std::string_view, 2> kFlags = {"namespace", "o"};
  return parse_client_flags(args, kFlags, variable);
}

TEST_CASE("client flags: without any, the origin on this machine is asked") {
  const auto flags = parse({});
  REQUIRE(flags);
  REQUIRE(flags->origins.size() == 1);
  CHECK(flags->origins.front().to_string() == kDefaultOrigin);
  CHECK(flags->operands.empty());
  CHECK_FALSE(flags->json);
}

TEST_CASE("client flags: flags and operands mix, in Go's syntax") {
  const Args args = {"one", "-json", "--namespace=a/b", "two", "-o", "-", "-origin", "x:1,y:2"};
  const auto flags = parse(args);
  REQUIRE(flags);
  CHECK(flags->operands == std::vector<std::string_view>{"one", "two"});
  CHECK(flags->json);
  CHECK(flags->name_space == "a/b");
  CHECK(flags->output == "-");
  REQUIRE(flags->origins.size() == 2);
  CHECK(flags->origins[1].to_string() == "y:2");
}

TEST_CASE("client flags: a flag wins over the variable, and the variable over the default") {
  CHECK(parse({}, "v:1")->origins.front().host == "v");
  const Args args = {"-origin", "f:1"};
  CHECK(parse(args, "v:1")->origins.front().host == "f");
}

TEST_CASE("client flags: behind two dashes and for one alone there are no flags") {
  const Args args = {"-", "--", "-json", "--"};
  const auto flags = parse(args);
  REQUIRE(flags);
  CHECK(flags->operands == std::vector<std::string_view>{"-", "-json", "--"});
  CHECK_FALSE(flags->json);
}

TEST_CASE("client flags: what makes no sense is refused") {
  const Args args = GENERATE(Args{"-unknown"}, Args{"-o"}, Args{"-origin"}, Args{"-origin", ""},
                             Args{"-origin", "x:1,"}, Args{"-json=true"}, Args{"-namespace", ""});
  INFO(args.front());
  const auto flags = parse(args);
  REQUIRE_FALSE(flags);
  CHECK(flags.error().code() == Errc::invalid_argument);
}

TEST_CASE("client flags: a flag that the command does not have is unknown") {
  const Args args = {"-o", "file"};
  CHECK_FALSE(parse_client_flags(args, {}, nullptr));
}

}  // namespace
}  // namespace orlop
