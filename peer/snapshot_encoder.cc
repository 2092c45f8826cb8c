#include "peer/snapshot_encoder.h"

#include <utility>

namespace orlop {
namespace {

constexpr std::string_view kBeginning = "{\"version\":1";
static_assert(kSnapshotVersion == 1);

/// How many sections are encoded again in one save because of their age: not all at once.
constexpr std::size_t kStaleSectionsMax = 64;

std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

}  // namespace

SnapshotEncoder::SnapshotEncoder(std::span<SnapshotCollection* const> collections,
                                 const Clock& clock, SnapshotEncoderOptions options)
    : clock_(clock), options_(options) {
  for (auto* collection : collections) {
    auto& kept = kept_.emplace_back();
    kept.collection = collection;
    kept.sections = std::vector<Section>(collection->section_count());
    kept.opening.append(",\"");
    kept.opening.append(collection->name());
    kept.opening.append("\":[");
  }
}

bool SnapshotEncoder::take_up(Kept& kept, std::size_t index, Clock::Steady now) {
  auto& section = kept.sections[index];
  const bool same_revision = kept.collection->revision(index) == section.revision;
  if (same_revision) {
    if (now - section.encoded_at < options_.reencode_after || stale_left_ == 0) return false;
    --stale_left_;
  }
  const auto begin = clock_.steady();
  kept.spare.clear();
  section.revision = kept.collection->encode(index, kept.spare);
  section.encoded_at = now;
  const auto encoded = clock_.steady();
  times_.encode += encoded - begin;
  const bool same_bytes = same_revision && kept.spare.text() == section.bytes.text();
  if (same_bytes) return false;
  if (same_revision) ++forgotten_changes_;
  std::swap(section.bytes, kept.spare);
  digester_.update(bytes_of(section.bytes.text()));
  section.digest = digester_.finish_and_restart();
  times_.hash += clock_.steady() - encoded;
  return true;
}

bool SnapshotEncoder::encode(std::uint64_t saved_at) {
  times_ = {};
  stale_left_ = kStaleSectionsMax;
  const auto now = clock_.steady();
  bool changed = parts_.empty();
  // From the last to the first: pairs speak of nodes, so the nodes are taken after them.
  for (auto kept = kept_.rbegin(); kept != kept_.rend(); ++kept) {
    for (std::size_t index = 0; index < kept->sections.size(); ++index) {
      if (take_up(*kept, index, now)) changed = true;
    }
  }
  if (changed) assemble(saved_at);
  return changed;
}

void SnapshotEncoder::assemble(std::uint64_t saved_at) {
  const auto begin = clock_.steady();
  parts_.clear();
  parts_.push_back(kBeginning);
  tail_.clear();
  tail_.append(",\"saved_at\":");
  tail_.append_json(saved_at);
  tail_.append(",\"sections\":[");
  std::string_view row_glue;
  for (const auto& kept : kept_) {
    bool first = true;
    for (const auto& section : kept.sections) {
      if (section.bytes.size() == 0) continue;
      parts_.push_back(first ? kept.opening.text() : std::string_view(","));
      parts_.push_back(section.bytes.text());
      first = false;
      tail_.append(row_glue);
      tail_.append("[\"");
      tail_.append(kept.collection->name());
      tail_.append("\",");
      tail_.append_json(std::uint64_t{section.bytes.size()});
      tail_.append(",\"");
      tail_.append_hex(section.digest.bytes());
      tail_.append("\"]");
      row_glue = ",";
    }
    if (!first) parts_.push_back("]");
  }
  tail_.append("]");
  digester_.update(bytes_of(kSnapshotDomain));
  digester_.update(bytes_of(tail_.text()));
  const auto checksum = digester_.finish_and_restart();
  tail_.append(",\"checksum\":\"");
  tail_.append_hex(checksum.bytes());
  tail_.append("\"}\n");
  parts_.push_back(tail_.text());
  times_.hash += clock_.steady() - begin;
}

std::size_t SnapshotEncoder::size_bytes() const {
  std::size_t bytes = 0;
  for (const auto part : parts_) bytes += part.size();
  return bytes;
}

}  // namespace orlop
