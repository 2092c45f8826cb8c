#pragma once

#include <atomic>

namespace orlop {

class Metrics;

/// What the server knows of its own state. Safe from any thread.
class Health {
 public:
  /// SIGTERM came: others should stop sending requests, which are still answered for a while.
  void begin_draining() { draining_ = true; }
  bool draining() const { return draining_; }

  /// What it counts, for GET /metrics; null while no server runs. Set before requests come.
  void show_metrics(Metrics* metrics) { metrics_ = metrics; }
  Metrics* metrics() const { return metrics_; }

 private:
  std::atomic<bool> draining_ = false;
  std::atomic<Metrics*> metrics_ = nullptr;
};

}  // namespace orlop
