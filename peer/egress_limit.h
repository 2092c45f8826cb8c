#pragma once

#include <chrono>
#include <cstdint>

namespace orlop {

/// How fast bytes may leave, all connections together: a bucket that fills at a steady rate, up to
/// one second's worth. A piece larger than that leaves a debt, which later ones wait for; Kraken,
/// whose keys these are (scheduler.conn.bandwidth), can never send such a piece.
///
/// Not thread-safe.
class EgressLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  /// 0: no limit.
  EgressLimit(std::uint64_t bytes_per_second, Time now)
      : rate_(static_cast<double>(bytes_per_second)), there_(rate_), filled_at_(now) {}

  /// Takes so many bytes. How long they may not leave yet.
  std::chrono::nanoseconds take(std::uint64_t bytes, Time now);

 private:
  const double rate_;
  double there_;  ///< Bytes in the bucket; negative: owed.
  Time filled_at_;
};

}  // namespace orlop
