#include "server/descriptor_budget.h"

#include <algorithm>
#include <catch2/catch.hpp>

namespace orlop {
namespace {

TEST_CASE("descriptor budget: where there are enough, everybody gets what was asked for") {
  const auto budget = share_descriptors(1 << 20, 10'000, 10'000);

  CHECK(budget == DescriptorBudget{.descriptors_max = 1 << 20,
                                   .connections_max = 10'000,
                                   .uploads_max = 10'000});
}

TEST_CASE("descriptor budget: no mix of connections and uploads can take what the rest needs") {
  const auto descriptors = GENERATE(8U, 64U, 256U, 1024U, 4096U, 20'000U, 65'536U);
  const auto wanted = GENERATE(1U, 10U, 10'000U, 10'000'000U);
  const auto uploads_wanted = GENERATE(1U, 100U, 10'000U, 10'000'000U);
  const auto budget = share_descriptors(descriptors, wanted, uploads_wanted);

  INFO(descriptors << " for " << wanted << " and " << uploads_wanted);
  CHECK(budget.connections_max >= 1);
  CHECK(budget.uploads_max >= 1);
  CHECK(budget.connections_max <= wanted);
  CHECK(budget.uploads_max <= uploads_wanted);
  const auto reserved = std::min(320U, descriptors / 2);
  CHECK(2 * budget.connections_max + budget.uploads_max + reserved <= descriptors);
}

TEST_CASE("descriptor budget: what uploads do not want, connections may have") {
  CHECK(share_descriptors(1024, 10'000, 10'000).connections_max == 176);
  CHECK(share_descriptors(1024, 10'000, 4).connections_max == 350);
  CHECK(share_descriptors(1024, 10, 10'000).uploads_max == 684);
}

TEST_CASE("descriptor budget: the limit of a process without one is no trouble") {
  const auto unlimited = ~std::uint64_t{0};

  CHECK(share_descriptors(unlimited, 10'000'000, 10'000'000).connections_max == 10'000'000);
}

}  // namespace
}  // namespace orlop
