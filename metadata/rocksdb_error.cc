#include "metadata/rocksdb_error.h"

#include <rocksdb/status.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "base/check.h"

namespace orlop {
namespace {

/// RocksDB keeps the system's words and not its number (7.8, env/io_posix.cc, IOError).
bool out_of_descriptors(const rocksdb::Status& status) {
  if (!status.IsIOError()) return false;
  const auto text = status.ToString();
  for (const int number : {EMFILE, ENFILE}) {
    if (text.find(std::generic_category().message(number)) != std::string::npos) return true;
  }
  return false;
}

Errc to_errc(const rocksdb::Status& status) {
  // A table or a log that the manifest names and nobody can find: part of the database is gone.
  if (status.IsCorruption() || status.IsPathNotFound()) return Errc::corrupt;
  if (status.IsNotFound()) return Errc::not_found;
  if (status.IsBusy() || status.IsTryAgain() || status.IsNoSpace()) return Errc::busy;
  if (status.IsShutdownInProgress() || status.IsIncomplete()) return Errc::busy;
  // Not "this node is broken": another one can do it now, and so can this one in a moment.
  if (out_of_descriptors(status)) return Errc::busy;
  if (status.IsTimedOut()) return Errc::timed_out;
  return Errc::io_error;
}

}  // namespace

Error to_error(const rocksdb::Status& status, std::string_view action) {
  ORLOP_CHECK(!status.ok());
  return Error(to_errc(status), status.ToString()).within(action);
}

}  // namespace orlop
