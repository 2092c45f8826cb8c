#pragma once

#include <rocksdb/options.h>

#include <filesystem>

namespace orlop {

/// How RocksDB is set up for the metadata of one machine. `path` is there: how much memory and log
/// it may use follows from the size of its file system. Null `env` is the system's.
///
/// Memory: a cache of 32 MiB that also holds indexes and filters, and four write buffers; so the
/// number of blobs has no part in it. The cache and the log are shared by all openings with these
/// options.
rocksdb::Options make_rocksdb_options(const std::filesystem::path& path, rocksdb::Env* env);

}  // namespace orlop
