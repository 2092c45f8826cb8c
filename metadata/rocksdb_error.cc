#include "metadata/rocksdb_error.h"

#include <rocksdb/status.h>

#include "base/check.h"

namespace orlop {
namespace {

Errc to_errc(const rocksdb::Status& status) {
  // A table or a log that the manifest names and nobody can find: part of the database is gone.
  if (status.IsCorruption() || status.IsPathNotFound()) return Errc::corrupt;
  if (status.IsNotFound()) return Errc::not_found;
  if (status.IsBusy() || status.IsTryAgain() || status.IsNoSpace()) return Errc::busy;
  if (status.IsShutdownInProgress() || status.IsIncomplete()) return Errc::busy;
  if (status.IsTimedOut()) return Errc::timed_out;
  return Errc::io_error;
}

}  // namespace

Error to_error(const rocksdb::Status& status, std::string_view action) {
  ORLOP_CHECK(!status.ok());
  return Error(to_errc(status), status.ToString()).within(action);
}

}  // namespace orlop
