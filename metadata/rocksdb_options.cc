#include "metadata/rocksdb_options.h"

#include <rocksdb/cache.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <sys/statvfs.h>

#include <cstddef>
#include <cstdint>

#include "metadata/rocksdb_log.h"

namespace orlop {
namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr std::size_t kCacheBytes = 32 * kMiB;
constexpr std::uint64_t kSmallFileSystemBytes = 1024 * kMiB;

/// On a small file system the logs and the tables that come of a write buffer must be small too.
bool on_small_file_system(const std::filesystem::path& path) {
  struct statvfs facts {};
  if (::statvfs(path.c_str(), &facts) != 0) return true;  // Small works everywhere.
  return std::uint64_t{facts.f_blocks} * facts.f_frsize < kSmallFileSystemBytes;
}

rocksdb::BlockBasedTableOptions table_options() {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kCacheBytes);
  table.format_version = 5;
  // Most look-ups ask for a blob that is not here: ten bits a key spare 99 of 100 of them the disk.
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  // At 10^8 blobs the filters are 125 MB. In parts, and in the cache, they cost what is asked for.
  table.index_type = rocksdb::BlockBasedTableOptions::kTwoLevelIndexSearch;
  table.partition_filters = true;
  table.cache_index_and_filter_blocks = true;
  table.cache_index_and_filter_blocks_with_high_priority = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  return table;
}

}  // namespace

rocksdb::Options make_rocksdb_options(const std::filesystem::path& path, rocksdb::Env* env) {
  const bool small = on_small_file_system(path);
  rocksdb::Options options;
  if (env != nullptr) options.env = env;
  options.create_if_missing = true;
  options.create_missing_column_families = true;

  options.write_buffer_size = small ? 1 * kMiB : 4 * kMiB;
  options.db_write_buffer_size = 3 * options.write_buffer_size;  // Of all families together.
  options.max_total_wal_size = 4 * options.write_buffer_size;
  options.target_file_size_base = small ? 4 * kMiB : 64 * kMiB;
  options.max_bytes_for_level_base = 4 * options.target_file_size_base;
  options.max_manifest_file_size = small ? 1 * kMiB : 16 * kMiB;
  options.manifest_preallocation_size = 64 * 1024;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_open_files = 256;
  options.max_background_jobs = 2;
  // Digests and sums are as good as random: nothing here gets shorter.
  options.compression = rocksdb::kNoCompression;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table_options()));

  options.info_log = make_rocksdb_log();
  options.info_log_level = rocksdb::WARN_LEVEL;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  // Start in seconds: what these read is only for statistics.
  options.skip_stats_update_on_db_open = true;
  // The guard of metadata/database.h reopens; two who repair would be in each other's way.
  options.max_bgerror_resume_count = 0;
  return options;
}

}  // namespace orlop
