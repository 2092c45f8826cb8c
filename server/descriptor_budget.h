#pragma once

#include <cstddef>
#include <cstdint>

namespace orlop {

/// How the descriptors that this process may have are shared out.
///
/// A connection takes two: its socket, and the blob that it is being sent. An upload keeps its file
/// open until its commit. What the database needs comes first: a store whose database cannot open a
/// file can neither commit nor look up.
struct DescriptorBudget {
  std::uint64_t descriptors_max = 0;  ///< RLIMIT_NOFILE as it is now.
  std::size_t connections_max = 0;    ///< At most what was asked for, at least 1.
  std::size_t uploads_max = 0;        ///< At most what was asked for, at least 1.

  bool operator==(const DescriptorBudget&) const = default;
};

/// Shares `descriptors_max` out. With enough of them, both limits are as asked for.
DescriptorBudget share_descriptors(std::uint64_t descriptors_max, std::size_t connections_wanted,
                                   std::size_t uploads_wanted);

/// Raises this process's soft limit of descriptors to the hard one, because the usual 1024 is too
/// low, and gives what holds now.
std::uint64_t raise_descriptor_limit();

}  // namespace orlop
