#include "server/descriptor_budget.h"

#include <sys/resource.h>

#include <algorithm>

namespace orlop {
namespace {

/// The database's tables and logs (256 at most, metadata/rocksdb_options.cc), and some sixty for
/// event loops, folders and what comes and goes.
constexpr std::uint64_t kReserved = 320;
constexpr std::uint64_t kPerConnection = 2;

}  // namespace

DescriptorBudget share_descriptors(std::uint64_t descriptors_max, std::size_t connections_wanted,
                                   std::size_t uploads_wanted) {
  // Of a very low limit half is kept: a database that is small needs few.
  const auto reserved = std::min(kReserved, descriptors_max / 2);
  const auto left = descriptors_max - reserved;
  DescriptorBudget budget{.descriptors_max = descriptors_max,
                          .connections_max = connections_wanted,
                          .uploads_max = uploads_wanted};
  // If both are short, connections get half of what is left and uploads the rest; what one does not
  // want, the other may have.
  const auto without_uploads = left - std::min<std::uint64_t>(left, uploads_wanted);
  const auto connections = std::max(left / 2, without_uploads) / kPerConnection;
  budget.connections_max = static_cast<std::size_t>(
      std::clamp<std::uint64_t>(connections, 1, std::max<std::size_t>(1, connections_wanted)));
  const auto taken = std::min<std::uint64_t>(left, kPerConnection * budget.connections_max);
  budget.uploads_max = static_cast<std::size_t>(
      std::clamp<std::uint64_t>(left - taken, 1, std::max<std::size_t>(1, uploads_wanted)));
  return budget;
}

std::uint64_t raise_descriptor_limit() {
  rlimit limit = {};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;  // What Linux gives by default.
  auto raised = limit;
  raised.rlim_cur = raised.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

}  // namespace orlop
