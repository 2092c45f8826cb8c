#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace orlop {

enum class LogLevel : std::uint8_t { debug, info, warn, error, off };

/// One fact of a log line: a name of ours, a value from anywhere.
struct LogField {
  LogField(std::string_view field_name, std::string_view text) : name(field_name), value(text) {}
  LogField(std::string_view field_name, const std::string& text) : name(field_name), value(text) {}
  LogField(std::string_view field_name, const char* text) : name(field_name), value(text) {}
  template <std::integral Number>
  LogField(std::string_view field_name, Number number)
      : name(field_name), value(std::to_string(number)) {}

  std::string_view name;
  std::string value;
};

/// Writes one line, to standard error: time, level, event, then `name=value` for each field.
///
/// Values may come from strangers: control characters, quotes and backslashes are escaped and long
/// values are cut, so a value can neither forge a line nor flood the log. Safe from any thread.
void log_line(LogLevel level, std::string_view event, std::initializer_list<LogField> fields);

/// How many lines of this level were written since the start.
std::uint64_t log_lines(LogLevel level);

/// Lines below `level` are dropped. The default is `info`.
void set_log_level(LogLevel level);

inline void log_debug(std::string_view event, std::initializer_list<LogField> fields = {}) {
  log_line(LogLevel::debug, event, fields);
}
inline void log_info(std::string_view event, std::initializer_list<LogField> fields = {}) {
  log_line(LogLevel::info, event, fields);
}
inline void log_warn(std::string_view event, std::initializer_list<LogField> fields = {}) {
  log_line(LogLevel::warn, event, fields);
}
inline void log_error(std::string_view event, std::initializer_list<LogField> fields = {}) {
  log_line(LogLevel::error, event, fields);
}

/// `text` as it may stand in a log line: quoted if it needs to be, control bytes as \xNN, at most
/// 512 bytes of it.
std::string log_escaped(std::string_view text);

}  // namespace orlop
