#pragma once

#include "base/clock.h"
#include "metadata/catalogue.h"
#include "metadata/records.h"
#include "store/commit_journal.h"

namespace orlop {

Fingerprint fingerprint_of(const FileStat& file);

/// Writes what the store committed into the catalogue: the two rooms do not know each other.
class CatalogueJournal final : public CommitJournal {
 public:
  /// With `durability: never` nothing syncs the files, so their fingerprints would promise too
  /// much: after a power cut a file can have its size, its times and other bytes. Without one the
  /// first reader hashes the file, syncs it and records the fingerprint then.
  CatalogueJournal(Catalogue& catalogue, const Clock& clock, bool files_will_be_synced)
      : catalogue_(catalogue), clock_(clock), files_will_be_synced_(files_will_be_synced) {}

  Result<> record(std::span<const CommitRecord> group) override;
  void distrust(std::span<const CommitRecord> group) override;
  Result<> sync() override { return catalogue_.sync(); }

 private:
  Catalogue& catalogue_;
  const Clock& clock_;
  const bool files_will_be_synced_;
};

}  // namespace orlop
