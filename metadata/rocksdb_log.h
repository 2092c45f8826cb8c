#pragma once

#include <memory>

namespace rocksdb {
class Logger;
}

namespace orlop {

/// RocksDB's log, as lines of ours: warnings and errors; the rest is dropped.
///
/// It never writes a file. That is its point: with a log file of its own Debian's RocksDB ends the
/// process when the disk is full (design, section 3).
std::shared_ptr<rocksdb::Logger> make_rocksdb_log();

}  // namespace orlop
