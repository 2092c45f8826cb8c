#pragma once

#include <map>
#include <string>
#include <vector>

namespace orlop {

/// Who of a set of hosts is healthy, by the results of repeated probes. One result says little: a
/// host leaves after `fails` failures in a row and comes back after `passes` successes in a row, as
/// in Kraken (lib/healthcheck/state.go).
///
/// Not thread-safe.
class HealthTrends {
 public:
  struct Limits {
    int fails = 3;   ///< healthcheck.fails; positive.
    int passes = 2;  ///< healthcheck.passes; positive.
  };

  explicit HealthTrends(Limits limits) : limits_(limits) {}

  /// From now on these are the hosts. One that was never seen starts healthy; one that left and
  /// comes back has to pass first. Kraken never forgets a host; we do when it has been away for
  /// `kForgetAfter` calls, so that names that change for ever cannot fill the memory.
  void set_hosts(const std::vector<std::string>& hosts);

  /// The outcome of a probe. Of a host that has left meanwhile it is of no interest. True if the
  /// host's health changed.
  bool record(const std::string& host, bool passed);

  /// False for a host that is not in the set.
  bool healthy(const std::string& host) const;

  static constexpr int kForgetAfter = 1000;

 private:
  struct Host {
    bool present = true;
    bool healthy = true;
    int trend = 0;   ///< Successes in a row; failures in a row if negative.
    int absent = 0;  ///< Calls of `set_hosts` without it.
  };

  const Limits limits_;
  std::map<std::string, Host> hosts_;
};

}  // namespace orlop
