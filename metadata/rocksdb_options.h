#pragma once

#include <rocksdb/options.h>

#include <filesystem>

namespace orlop {

/// How RocksDB is set up for the metadata of one machine. `path` is there: how much memory and log
/// it may use follows from the size of its file system. Null `env` is the system's.
///
/// Memory: a cache of 32 MiB that also holds indexes and filters, and write buffers of 12 MiB in
/// all (3 MiB if the file system is small); so the number of blobs has no part in it. More would
/// hold some 340 bytes a blob for longer, and commits were no faster with 64 MiB. The cache and the
/// log are shared by all openings with these options.
rocksdb::Options make_rocksdb_options(const std::filesystem::path& path, rocksdb::Env* env);

}  // namespace orlop
