#include "config/yaml.h"

#include <catch2/catch.hpp>
#include <string>

namespace {

using namespace orlop;

Node parsed(const std::string& text) {
  auto node = parse_yaml(text, "f.yaml");
  INFO(text);
  REQUIRE(node);
  return *std::move(node);
}

std::string mistake(const std::string& text) {
  const auto node = parse_yaml(text, "f.yaml");
  return node ? "" : node.error().detail();
}

TEST_CASE("yaml: each node knows the line of its key") {
  const auto root = parsed("a: 1\nb:\n  c: x\n  d:\n    - y\n");

  CHECK(root.find("a")->where() == "f.yaml:1");
  CHECK(root.find("b")->where() == "f.yaml:2");
  CHECK(root.find("b")->find("c")->where() == "f.yaml:3");
  CHECK(root.find("b")->find("d")->where() == "f.yaml:4");
  CHECK(root.find("b")->find("d")->children.at(0).where() == "f.yaml:5");
}

TEST_CASE("yaml: quotes make text, and the four nulls are null") {
  const auto root = parsed("a: '5'\nb: 5\nc:\nd: ~\ne: null\nf: \"null\"\n");

  CHECK(root.find("a")->quoted);
  CHECK_FALSE(root.find("b")->quoted);
  CHECK(root.find("c")->kind == Node::Kind::null);
  CHECK(root.find("d")->kind == Node::Kind::null);
  CHECK(root.find("e")->kind == Node::Kind::null);
  CHECK(root.find("f")->kind == Node::Kind::scalar);
}

TEST_CASE("yaml: an empty file is null") {
  CHECK(parsed("").kind == Node::Kind::null);
  CHECK(parsed("# nothing\n").kind == Node::Kind::null);
  CHECK(parsed("---\n").kind == Node::Kind::null);
}

TEST_CASE("yaml: an alias is a copy, and << stands for the entries of its map") {
  const auto root =
      parsed("a: &a {x: 1, y: 2}\nb: *a\nc: {<<: *a, y: 3}\nd: {<<: [*a, {x: 9, z: 4}]}\n");

  CHECK(root.find("b")->find("y")->text == "2");
  CHECK(root.find("c")->find("x")->text == "1");
  CHECK(root.find("c")->find("y")->text == "3");
  CHECK(root.find("d")->find("x")->text == "1");
  CHECK(root.find("d")->find("z")->text == "4");
}

TEST_CASE("yaml: malformed text is refused with file and line") {
  CHECK_THAT(mistake("a: 1\nb: [\n"), Catch::StartsWith("f.yaml:3: not YAML: "));
  CHECK_THAT(mistake("a: 1\n b: 2\n"), Catch::StartsWith("f.yaml:2: not YAML: "));
  CHECK_THAT(mistake("a: *nobody\n"), Catch::StartsWith("f.yaml:1: "));
  CHECK_THAT(mistake("? [a, b]\n: 1\n"), Catch::StartsWith("f.yaml:1: "));
  CHECK_THAT(mistake("a: 1\n<<: 5\n"), Catch::Contains("\"<<\" takes a map"));
}

TEST_CASE("yaml: a second document is refused, because it would be ignored") {
  CHECK_THAT(mistake("a: 1\n---\nb: 2\n"), Catch::Contains("more than one YAML document"));
}

TEST_CASE("yaml: deep nesting is refused and does not exhaust the stack") {
  CHECK(mistake(std::string(20, '[') + std::string(20, ']')).empty());
  CHECK_THAT(mistake(std::string(33, '[') + std::string(33, ']')), Catch::Contains("too deeply"));
  CHECK_FALSE(mistake(std::string(100000, '[')).empty());
}

TEST_CASE("yaml: a few lines of aliases cannot ask for all memory") {
  std::string laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 12; ++i) {
    const auto last = "*a" + std::to_string(i - 1);
    const auto name = "a" + std::to_string(i);
    laughs += name + ": &" + name + " [" + last;
    for (int k = 1; k < 10; ++k) laughs += ", " + last;
    laughs += "]\n";
  }
  CHECK_THAT(mistake(laughs), Catch::Contains("more than 10000 values"));
  CHECK_FALSE(mistake("&a [*a]\n").empty());
}

}  // namespace
