#include "metadata/rocksdb_log.h"

#include <rocksdb/env.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <string_view>

#include "base/log.h"

namespace orlop {
namespace {

LogLevel to_level(rocksdb::InfoLogLevel level) {
  switch (level) {
    case rocksdb::DEBUG_LEVEL:
    case rocksdb::INFO_LEVEL:
    case rocksdb::HEADER_LEVEL: return LogLevel::debug;
    case rocksdb::WARN_LEVEL: return LogLevel::warn;
    case rocksdb::ERROR_LEVEL:
    case rocksdb::FATAL_LEVEL:
    case rocksdb::NUM_INFO_LOG_LEVELS: return LogLevel::error;
  }
  return LogLevel::error;
}

class RocksdbLog final : public rocksdb::Logger {
 public:
  RocksdbLog() : rocksdb::Logger(rocksdb::WARN_LEVEL) {}
  ~RocksdbLog() override { Close().PermitUncheckedError(); }

  // The options, at every opening: nobody asked.
  void LogHeader(const char*, va_list) override {}

  void Logv(const char* format, va_list arguments) override {
    Logv(rocksdb::INFO_LEVEL, format, arguments);
  }

  void Logv(rocksdb::InfoLogLevel level, const char* format, va_list arguments) override {
    if (level < GetInfoLogLevel() || level == rocksdb::HEADER_LEVEL) return;
    std::array<char, 1024> text;  // Longer messages are cut, as log_line would cut them.
    const int length = std::vsnprintf(text.data(), text.size(), format, arguments);
    if (length < 0) return;
    std::string_view message(text.data());
    while (message.ends_with('\n')) message.remove_suffix(1);
    log_line(to_level(level), "rocksdb", {{"message", message}});
  }
};

}  // namespace

std::shared_ptr<rocksdb::Logger> make_rocksdb_log() { return std::make_shared<RocksdbLog>(); }

}  // namespace orlop
