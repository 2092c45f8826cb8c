#include "metadata/rocksdb_error.h"

#include <rocksdb/status.h>

#include <catch2/catch.hpp>
#include <string>

namespace {

using namespace orlop;
using rocksdb::Status;

TEST_CASE("rocksdb error: what another node or a later moment can do is busy, and only that") {
  // The texts are those of RocksDB 7.8 for EMFILE, ENFILE and EIO.
  CHECK(to_error(Status::IOError("While open a file for random read: 7.sst", "Too many open files"),
                 "get")
            .code() == Errc::busy);
  CHECK(to_error(Status::IOError("While open a file for appending: 8.log",
                                 "Too many open files in system"),
                 "put")
            .code() == Errc::busy);
  CHECK(
      to_error(Status::NoSpace("While appending to file: 8.log", "No space left on device"), "put")
          .code() == Errc::busy);
  CHECK(to_error(Status::IOError("While pread: 7.sst", "Input/output error"), "get").code() ==
        Errc::io_error);
  CHECK(to_error(Status::Corruption("Too many open files"), "get").code() == Errc::corrupt);
  CHECK(to_error(Status::NotFound(), "get").code() == Errc::not_found);
}

TEST_CASE("rocksdb error: the detail says what was done, and RocksDB's own words") {
  const auto error = to_error(Status::IOError("While pread: 7.sst", "Input/output error"), "get");

  CHECK_THAT(error.detail(), Catch::StartsWith("get: ") && Catch::Contains("7.sst"));
}

}  // namespace
