#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "base/tally.h"

namespace orlop {
namespace {

constexpr std::size_t kValueBytesMax = 512;

/// By level. Lines are few, so a shared counter is no burden.
std::array<SharedTally, 4>& lines() {
  static std::array<SharedTally, 4> counts;
  return counts;
}

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug: return spdlog::level::debug;
    case LogLevel::info: return spdlog::level::info;
    case LogLevel::warn: return spdlog::level::warn;
    case LogLevel::error: return spdlog::level::err;
    case LogLevel::off: return spdlog::level::off;
  }
  return spdlog::level::off;
}

spdlog::logger& logger() {
  static const auto instance = [] {
    auto made = std::make_shared<spdlog::logger>("orlop",
                                                 std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z level=%l %v");
    made->flush_on(spdlog::level::info);
    return made;
  }();
  return *instance;
}

bool is_plain(char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\' && c != '='; }

}  // namespace

std::string log_escaped(std::string_view text) {
  const bool cut = text.size() > kValueBytesMax;
  if (cut) text = text.substr(0, kValueBytesMax);
  if (!cut && !text.empty() && std::all_of(text.begin(), text.end(), is_plain)) {
    return std::string(text);
  }
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (c >= ' ' && c < 0x7f) {
      quoted += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      quoted += "\\x";
      quoted += kDigits[byte >> 4];
      quoted += kDigits[byte & 15];
    }
  }
  quoted += cut ? "…\"" : "\"";
  return quoted;
}

void log_line(LogLevel level, std::string_view event, std::initializer_list<LogField> fields) {
  const auto as = to_spdlog(level);
  if (!logger().should_log(as)) return;
  std::string line = "event=";
  line += event;
  for (const auto& field : fields) {
    line += ' ';
    line += field.name;
    line += '=';
    line += log_escaped(field.value);
  }
  logger().log(as, "{}", line);
  lines().at(static_cast<std::size_t>(level)).add();
}

std::uint64_t log_lines(LogLevel level) {
  return lines().at(static_cast<std::size_t>(level)).value();
}

void set_log_level(LogLevel level) { logger().set_level(to_spdlog(level)); }

}  // namespace orlop
