#pragma once

#include "peer/seed.h"

namespace orlop {

class Origin;

/// This node's blobs as the seeder wants them (peer/seed.h). `origin` outlives it and all its
/// seeds.
class BlobSeeds final : public SeedSource {
 public:
  explicit BlobSeeds(Origin& origin) : origin_(origin) {}

  Task<Result<std::unique_ptr<Seed>>> open(Digest digest, std::string_view name_space) override;

 private:
  Origin& origin_;
};

}  // namespace orlop
