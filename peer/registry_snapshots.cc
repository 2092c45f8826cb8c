#include "peer/registry_snapshots.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "peer/registry_facts.h"

namespace orlop {
namespace {

constexpr int kRestPerWrite = 20;

std::uint64_t seconds_since_1970(const Clock& clock) {
  const auto since =
      std::chrono::duration_cast<std::chrono::seconds>(clock.wall().time_since_epoch());
  return static_cast<std::uint64_t>(std::max<std::chrono::seconds::rep>(since.count(), 0));
}

}  // namespace

RegistrySnapshots::RegistrySnapshots(PeerRegistry& registry, Disk& disk, const Clock& clock,
                                     RegistrySnapshotsOptions options)
    : registry_(registry),
      clock_(clock),
      options_(std::move(options)),
      file_(disk, options_.path),
      encoder_(registry.collections(), clock) {}

std::string RegistrySnapshots::load() {
  using enum SnapshotFile::Generation;
  const std::lock_guard lock(mutex_);
  std::string said;
  for (const auto generation : {current, previous}) {
    const std::string name = generation == current ? "snapshot" : "previous snapshot";
    auto bytes = file_.read(generation, options_.bytes_max, snapshot_padding_bytes());
    if (!bytes) {
      said += name + ": " + bytes.error().detail() + "\n";
      continue;
    }
    auto facts = parse_registry(*bytes);
    if (!facts) {
      said += name + " refused: " + facts.error().detail() + "\n";
      // Only what is wrong in itself: want of memory is not the file's fault.
      if (generation == current && facts.error().code() == Errc::corrupt) {
        if (auto aside = file_.set_aside(); !aside) said += aside.error().detail() + "\n";
      }
      continue;
    }
    const auto nodes = std::to_string(facts->nodes.size());
    const auto pairs = std::to_string(facts->pairs.size());
    const auto left_out = std::to_string(restore(registry_, *std::move(facts)));
    return said + name + " read: nodes=" + nodes + " pairs=" + pairs + " left_out=" + left_out +
           "\n";
  }
  return said;
}

Result<bool> RegistrySnapshots::save() {
  const std::lock_guard lock(mutex_);
  if (encoder_.encode(seconds_since_1970(clock_))) unwritten_ = true;
  if (!unwritten_) return false;
  const auto begin = clock_.steady();
  auto saved = file_.save(encoder_.parts());
  const auto took = clock_.steady() - begin;
  const std::lock_guard figures_lock(figures_mutex_);
  figures_.encode = encoder_.last_times().encode;
  figures_.hash = encoder_.last_times().hash;
  figures_.write = took;
  figures_.size_bytes = encoder_.size_bytes();
  if (!saved) {
    ++figures_.failures;
    return std::move(saved).error();
  }
  ++figures_.saves;
  figures_.saved_at = clock_.wall();
  unwritten_ = false;
  return true;
}

std::chrono::nanoseconds RegistrySnapshots::pause() const {
  const std::lock_guard lock(figures_mutex_);
  return std::max(options_.interval, figures_.write * kRestPerWrite);
}

RegistrySnapshots::Figures RegistrySnapshots::figures() const {
  const std::lock_guard lock(figures_mutex_);
  return figures_;
}

std::string RegistrySnapshots::current() {
  const std::lock_guard lock(mutex_);
  if (encoder_.encode(seconds_since_1970(clock_))) unwritten_ = true;
  std::string bytes;
  bytes.reserve(encoder_.size_bytes());
  for (const auto part : encoder_.parts()) bytes += part;
  return bytes;
}

void RegistrySnapshots::run(StopSignal& stop) {
  bool stopped = false;
  while (!stopped) {
    stopped = stop.wait_for(pause());
    registry_.expire();
    if (auto saved = save(); !saved) {
      log_warn("peer_snapshot_not_saved", {{"reason", saved.error().detail()}});
    }
  }
}

}  // namespace orlop
