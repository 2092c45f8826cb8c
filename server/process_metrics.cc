#include <string>

#include "base/log.h"
#include "server/metrics.h"
#include "server/process_figures.h"

namespace orlop {

// The names are those of all Prometheus clients, so that their dashboards fit:
// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
void add_process(MetricPage& page, std::string_view version) {
  page.gauge("orlop_build_info", "Always 1; the label says which program runs.")
      .add(1.0, {{"version", std::string(version)}});
  page.counter("orlop_log_lines_total", "Lines that were written to the log.")
      .add(log_lines(LogLevel::debug), {{"level", "debug"}})
      .add(log_lines(LogLevel::info), {{"level", "info"}})
      .add(log_lines(LogLevel::warn), {{"level", "warning"}})
      .add(log_lines(LogLevel::error), {{"level", "error"}});
  const auto process = process_figures();
  if (!process) return;
  page.counter("process_cpu_seconds_total", "User and system time that was used.")
      .add(process->cpu_seconds);
  page.gauge("process_start_time_seconds", "When the process started, in seconds since 1970.")
      .add(process->start_seconds);
  page.gauge("process_resident_memory_bytes", "Resident memory.").add(process->resident_bytes);
  page.gauge("process_virtual_memory_bytes", "Virtual memory.").add(process->virtual_bytes);
  page.gauge("process_open_fds", "Open descriptors.").add(process->descriptors);
  page.gauge("process_max_fds", "As many may be open.").add(process->descriptors_max);
  page.gauge("process_threads", "Threads.").add(process->threads);
}

}  // namespace orlop
