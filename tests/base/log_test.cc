#include "base/log.h"

#include <catch2/catch.hpp>

namespace orlop {
namespace {

TEST_CASE("log: a value from a stranger cannot forge a line") {
  CHECK(log_escaped("plain") == "plain");
  CHECK(log_escaped("") == "\"\"");
  CHECK(log_escaped("a\r\nlevel=error event=fake") == "\"a\\x0d\\x0alevel=error event=fake\"");
  CHECK(log_escaped("say \"hi\"\\") == "\"say \\\"hi\\\"\\\\\"");
  CHECK(log_escaped("\x1b[31m") == "\"\\x1b[31m\"");
}

TEST_CASE("log: a long value is cut") {
  CHECK(log_escaped(std::string(100'000, 'x')).size() < 600);
}

TEST_CASE("log: a line is counted at its level if it was written") {
  const auto warnings = log_lines(LogLevel::warn);
  const auto debugs = log_lines(LogLevel::debug);
  log_warn("counted");
  log_debug("below the level, so not written");
  CHECK(log_lines(LogLevel::warn) == warnings + 1);
  CHECK(log_lines(LogLevel::debug) == debugs);
}

}  // namespace
}  // namespace orlop
