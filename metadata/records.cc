#include "metadata/records.h"

#include <utility>
#include <vector>

#include "metadata/keys.h"
#include "metadata/msgpack.h"

namespace orlop {
namespace {

constexpr std::uint64_t kVersion = 1;

MsgpackWriter begin_record(std::string& out, std::size_t fields) {
  MsgpackWriter writer(out);
  writer.write_array(fields + 1);
  writer.write_uint(kVersion);
  return writer;
}

/// Reads the record's head; the fields are next.
Result<> enter_record(MsgpackReader& reader, std::size_t fields) {
  const auto values = reader.read_array();
  const auto version = reader.read_uint();
  if (reader.failed()) return reader.finish();
  if (version != kVersion) {
    return Error(Errc::corrupt, "version " + std::to_string(version) + " is not known here");
  }
  if (values != fields + 1) {
    return Error(Errc::corrupt, std::to_string(values) + " values in the record");
  }
  return {};
}

std::optional<TaskKind> task_kind_from(std::uint8_t byte) {
  const auto kind = static_cast<TaskKind>(byte);
  switch (kind) {
    case TaskKind::write_back:
    case TaskKind::replicate: return kind;
  }
  return std::nullopt;
}

}  // namespace

std::string encode_blob(const BlobRecord& record) {
  std::string bytes;
  auto writer = begin_record(bytes, 6);
  writer.write_uint(record.size_bytes);
  writer.write_uint(record.blocks);
  writer.write_int(record.committed_at);
  writer.write_bool(record.backed);
  writer.write_bool(record.pinned);
  if (!record.fingerprint) {
    writer.write_nil();
    return bytes;
  }
  writer.write_array(4);
  writer.write_uint(record.fingerprint->inode);
  writer.write_uint(record.fingerprint->size_bytes);
  writer.write_int(record.fingerprint->modified_ns);
  writer.write_int(record.fingerprint->changed_ns);
  return bytes;
}

Result<BlobRecord> decode_blob(std::string_view bytes) {
  MsgpackReader reader(bytes);
  if (auto entered = enter_record(reader, 6); !entered) return std::move(entered).error();
  BlobRecord record;
  record.size_bytes = reader.read_uint();
  record.blocks = reader.read_uint();
  record.committed_at = reader.read_int();
  record.backed = reader.read_bool();
  record.pinned = reader.read_bool();
  if (reader.peek() == MsgpackKind::nil) {
    reader.read_nil();
  } else {
    if (reader.read_array() != 4) return Error(Errc::corrupt, "not a fingerprint");
    Fingerprint fingerprint;
    fingerprint.inode = reader.read_uint();
    fingerprint.size_bytes = reader.read_uint();
    fingerprint.modified_ns = reader.read_int();
    fingerprint.changed_ns = reader.read_int();
    record.fingerprint = fingerprint;
  }
  if (auto finished = reader.finish(); !finished) return std::move(finished).error();
  if (static_cast<std::int64_t>(record.blocks) < 0) {  // Usage counts them in signed deltas.
    return Error(Errc::corrupt, "more blocks than a disk has");
  }
  return record;
}

std::string encode_metainfo(const MetaInfo& metainfo) {
  const auto sums = metainfo.piece_sums();
  std::string big_endian;
  big_endian.reserve(4 * sums.size());
  for (const auto sum : sums) append_u32(big_endian, sum);

  std::string bytes;
  bytes.reserve(big_endian.size() + 32);
  auto writer = begin_record(bytes, 3);
  writer.write_uint(metainfo.piece_length());
  writer.write_uint(metainfo.size_bytes());
  writer.write_bin(big_endian);
  return bytes;
}

Result<MetaInfo> decode_metainfo(Digest digest, std::string_view bytes) {
  MsgpackReader reader(bytes);
  if (auto entered = enter_record(reader, 3); !entered) return std::move(entered).error();
  const auto piece_length = reader.read_uint();
  const auto size_bytes = reader.read_uint();
  const auto big_endian = reader.read_bin();
  if (auto finished = reader.finish(); !finished) return std::move(finished).error();
  if (big_endian.size() % 4 != 0) return Error(Errc::corrupt, "the sums are cut short");

  std::vector<std::uint32_t> sums;
  sums.reserve(big_endian.size() / 4);
  for (std::size_t i = 0; i < big_endian.size(); i += 4) {
    sums.push_back(read_u32(big_endian.substr(i, 4)));
  }
  auto metainfo = MetaInfo::make(digest, size_bytes, piece_length, std::move(sums));
  // What make() finds wrong in a record is not the fault of whoever asks for it.
  if (!metainfo) return Error(Errc::corrupt, metainfo.error().detail());
  return metainfo;
}

std::string encode_task(const TaskRecord& task) {
  std::string bytes;
  auto writer = begin_record(bytes, 2);
  writer.write_int(task.delay.count());
  writer.write_int(task.created_at);
  return bytes;
}

Result<TaskRecord> decode_task(std::string_view key, std::string_view bytes) {
  if (key.size() < kTaskPrefixBytes) return Error(Errc::corrupt, "the key is cut short");
  const auto kind = task_kind_from(static_cast<std::uint8_t>(key.front()));
  if (!kind) return Error(Errc::corrupt, "a task of a kind that is not known here");
  const auto digest = digest_from_key(key.substr(1, Digest::kBytes));

  MsgpackReader reader(bytes);
  if (auto entered = enter_record(reader, 2); !entered) return std::move(entered).error();
  const std::chrono::nanoseconds delay(reader.read_int());
  const auto created_at = reader.read_int();
  if (auto finished = reader.finish(); !finished) return std::move(finished).error();
  return TaskRecord{*kind, *digest, std::string(key.substr(kTaskPrefixBytes)), delay, created_at};
}

std::string encode_scrub(const ScrubRecord& record) {
  std::string bytes;
  auto writer = begin_record(bytes, 7);
  writer.write_int(record.started_at);
  record.finished_at ? writer.write_int(*record.finished_at) : writer.write_nil();
  record.cursor ? writer.write_bin(digest_key(*record.cursor)) : writer.write_nil();
  writer.write_uint(record.blobs);
  writer.write_uint(record.bytes);
  writer.write_uint(record.bad);
  writer.write_uint(record.skipped);
  return bytes;
}

Result<ScrubRecord> decode_scrub(std::string_view bytes) {
  MsgpackReader reader(bytes);
  if (auto entered = enter_record(reader, 7); !entered) return std::move(entered).error();
  ScrubRecord record;
  record.started_at = reader.read_int();
  if (reader.peek() == MsgpackKind::nil) {
    reader.read_nil();
  } else {
    record.finished_at = reader.read_int();
  }
  if (reader.peek() == MsgpackKind::nil) {
    reader.read_nil();
  } else {
    record.cursor = digest_from_key(reader.read_bin());
    if (!record.cursor) return Error(Errc::corrupt, "the cursor is no digest");
  }
  record.blobs = reader.read_uint();
  record.bytes = reader.read_uint();
  record.bad = reader.read_uint();
  record.skipped = reader.read_uint();
  if (auto finished = reader.finish(); !finished) return std::move(finished).error();
  return record;
}

}  // namespace orlop
