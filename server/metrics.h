#pragma once

#include <cstddef>
#include <list>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/tally.h"
#include "base/worker_pool.h"
#include "origin/origin.h"
#include "server/admission.h"
#include "server/metric_page.h"
#include "server/storage_watch.h"

namespace orlop {

class Reactor;

/// What the accepting thread counts.
struct AcceptCounts {
  Tally accepted;
  Tally paused_at_limit;  ///< There were server.connections_max.
  Tally paused_by_error;  ///< The system gave no connection: out of descriptors, for one.
};

/// GET /metrics: puts together what the rooms count. They know nothing of it and count in their own
/// words (origin/figures.h, server/reactor_counts.h); what each number means to an operator is in
/// docs/operations.md, and why it is made this way in docs/decisions/0013-metrics.md.
///
/// The series are the same from the first scrape on, whatever clients send.
///
/// A page is made on a thread of this object, never on a reactor nor in the queue for disk work:
/// both may be what is slow. Scrapes that come faster than pages are made are refused.
class Metrics {
 public:
  struct Sources {
    const Origin& origin;
    const Admission& admission;
    const std::list<Reactor>& reactors;  ///< All are there before the first scrape.
    const AcceptCounts& accepting;
    std::size_t connections_max;
    std::string_view version;
  };

  /// All sources outlive it. So do the reactors whose requests wait for a page.
  explicit Metrics(Sources sources);

  /// The answer's body. `busy` if too many wait for theirs.
  Task<Result<std::string>> page();

 private:
  std::string make_page();
  void add_requests(MetricPage& page) const;
  void add_connections(MetricPage& page) const;
  void add_refusals(MetricPage& page, const OriginFigures& figures) const;

  const Sources sources_;
  StorageWatch storage_;
  WorkerPool pool_;  // Last: its thread uses all of the above.
};

// storage_metrics.cc

/// What the origin counts.
void add_origin(MetricPage& page, const OriginFigures& figures);
/// Its queues: the disk pool and the committer.
void add_queues(MetricPage& page, const OriginFigures& figures);
/// What is kept in memory to be read again.
void add_caches(MetricPage& page, const OriginFigures& figures);
/// What goes on behind the requests: removal, scrub, indexer.
void add_background(MetricPage& page, const OriginFigures& figures);
/// What the disk said, if it ever said something.
void add_storage(MetricPage& page, const std::optional<StorageWatch::Seen>& seen);

// process_metrics.cc

/// This process, its log, and which program it runs.
void add_process(MetricPage& page, std::string_view version);

}  // namespace orlop
