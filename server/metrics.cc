#include "server/metrics.h"

#include <utility>

#include "server/reactor.h"

namespace orlop {
namespace {

constexpr std::size_t kPagesWaitingMax = 16;
/// Prometheus gives up after 10 s if it is not told otherwise.
constexpr std::chrono::seconds kDiskPatience{2};

}  // namespace

Metrics::Metrics(Sources sources)
    : sources_(sources),
      storage_([&origin = sources.origin] { return origin.storage_figures(); }),
      pool_(1, kPagesWaitingMax) {}

Task<Result<std::string>> Metrics::page() {
  co_return co_await pool_.run([this]() -> Result<std::string> { return make_page(); });
}

std::string Metrics::make_page() {
  MetricPage page;
  const auto figures = sources_.origin.figures();
  add_requests(page);
  add_connections(page);
  add_refusals(page, figures);
  add_origin(page, figures);
  add_queues(page, figures);
  add_caches(page, figures);
  add_background(page, figures);
  add_storage(page, storage_.look(kDiskPatience));
  add_process(page, sources_.version);
  return page.text();
}

void Metrics::add_requests(MetricPage& page) const {
  ReactorCounts::Read sum;
  for (const auto& reactor : sources_.reactors) sum += reactor.counts().read();

  page.counter("orlop_requests_total", "Requests that were answered.");
  for (std::size_t c = 0; c < kCountedClasses; ++c) {
    for (std::size_t i = 0; i < kStatusCounts; ++i) {
      page.add(sum.classes[c].answered[i], {{"class", class_name(c)}, {"status", status_name(i)}});
    }
  }
  page.histogram("orlop_request_duration_seconds",
                 "From a request's complete head to the last byte of its answer.");
  for (std::size_t c = 0; c < kCountedClasses; ++c) {
    for (std::size_t i = 0; i < kStatusFamilies; ++i) {
      page.add(sum.classes[c].took[i], kPerSecond,
               {{"class", class_name(c)}, {"status", status_family_name(i)}});
    }
  }
  page.counter("orlop_answers_cut_total",
               "Answers that did not reach their end: the client went away or took nothing, or "
               "the bytes could not be read.");
  for (std::size_t c = 0; c < kCountedClasses; ++c) {
    page.add(sum.classes[c].cut, {{"class", class_name(c)}});
  }
  page.gauge("orlop_requests_running", "Requests between their head and their answer's last byte.");
  for (const auto counted : {RouteClass::read, RouteClass::write, RouteClass::operate}) {
    page.add(static_cast<double>(sources_.admission.running(counted)),
             {{"class", class_name(static_cast<std::size_t>(counted))}});
  }
  page.counter("orlop_received_bytes_total", "Read from clients' connections.")
      .add(sum.received_bytes);
  page.counter("orlop_sent_bytes_total", "Written to clients' connections.").add(sum.sent_bytes);
  page.histogram("orlop_reactor_lag_seconds",
                 "How much later than it was due a reactor ran a timer: what every request on it "
                 "waits.")
      .add(sum.lag, kPerSecond);
}

void Metrics::add_connections(MetricPage& page) const {
  std::size_t open = 0;
  for (const auto& reactor : sources_.reactors) open += reactor.connections();
  page.gauge("orlop_connections", "Open connections of clients.").add(std::uint64_t{open});
  page.gauge("orlop_connections_max", "As many are taken (server.connections_max).")
      .add(std::uint64_t{sources_.connections_max});
  page.counter("orlop_connections_accepted_total", "Connections that were taken.")
      .add(sources_.accepting.accepted.value());
  page.counter("orlop_accept_pauses_total",
               "Times that no connection was taken for 50 ms; they wait in the kernel.")
      .add(sources_.accepting.paused_at_limit.value(), {{"reason", "limit"}})
      .add(sources_.accepting.paused_by_error.value(), {{"reason", "error"}});
}

void Metrics::add_refusals(MetricPage& page, const OriginFigures& figures) const {
  const auto& admission = sources_.admission;
  page.counter("orlop_refusals_total",
               "Requests that were answered 503 because a limit of ours "
               "was reached.")
      .add(admission.refused(RouteClass::read), {{"reason", "reads_max"}})
      .add(admission.refused(RouteClass::write), {{"reason", "writes_max"}})
      .add(admission.refused(RouteClass::operate), {{"reason", "operations_max"}})
      .add(figures.refused_for_space, {{"reason", "space"}})
      .add(figures.refused_for_uploads_max, {{"reason", "uploads_max"}})
      .add(figures.disk_pool.refused, {{"reason", "disk_queue"}})
      .add(figures.committer.refused, {{"reason", "commit_queue"}})
      .add(pool_.stats().refused, {{"reason", "metrics_queue"}});
}

}  // namespace orlop
