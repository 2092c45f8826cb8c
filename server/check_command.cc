#include "server/check_command.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/disk.h"
#include "base/json_writer.h"
#include "base/log.h"
#include "base/stop_signal.h"
#include "cli/progress_bar.h"
#include "origin/folder_check.h"
#include "server/configured.h"
#include "store/volumes.h"

namespace orlop {
namespace {

constexpr int kExitClean = kExitDone;
constexpr int kExitFindings = kExitFailed;
constexpr auto kBarEvery = std::chrono::milliseconds(200);
constexpr unsigned kJobsMax = 256;

constexpr const char* kUsage =
    "usage: orlop check [-json] [-jobs N] [flags of serve]\n\n"
    "Looks at the data folder (-data DIR, or -config FILE) of a daemon that does not run: do\n"
    "records, files, bytes and sums agree? Changes nothing.\n\n"
    "  -json     one JSON object on standard output\n"
    "  -jobs N   threads that read and hash. Default: one a core\n\n"
    "Exit status: 0 clean, 1 findings, 2 it could not run.\n";

struct CheckFlags {
  bool json = false;
  bool help = false;
  unsigned jobs = std::clamp(std::thread::hardware_concurrency(), 1U, kJobsMax);
  std::vector<const char*> rest;  ///< For the configuration.
};

Result<unsigned> parse_jobs(std::string_view text) {
  unsigned jobs = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), jobs);
  if (failed == std::errc() && end == text.data() + text.size() && jobs >= 1 && jobs <= kJobsMax) {
    return jobs;
  }
  return Error(Errc::invalid_argument,
               "-jobs: expected 1 to " + std::to_string(kJobsMax) + ", got " + log_escaped(text));
}

Result<CheckFlags> parse(std::span<const char* const> args) {
  CheckFlags flags;
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string_view arg = args[i];
    if (arg.starts_with("--")) arg.remove_prefix(1);
    if (arg == "-json") {
      flags.json = true;
    } else if (arg == "-help" || arg == "-h") {
      flags.help = true;
    } else if (arg == "-jobs" || arg.starts_with("-jobs=")) {
      const bool apart = arg == "-jobs";
      if (apart && i + 1 == args.size()) {
        return Error(Errc::invalid_argument, "-jobs: needs a value: -jobs N");
      }
      const auto jobs = parse_jobs(apart ? std::string_view(args[++i]) : arg.substr(6));
      if (!jobs) return jobs.error();
      flags.jobs = *jobs;
    } else {
      flags.rest.push_back(args[i]);
    }
  }
  return flags;
}

/// What goes to standard output, in one of two forms.
class Printer {
 public:
  explicit Printer(bool json) : json_(json) {}

  bool has_bar() const { return !json_ && bar_.visible(); }

  void finding(const Finding& finding) {
    if (json_) return json_finding(finding);
    const std::lock_guard lock(mutex_);
    bar_.clear();
    std::printf("%s %s: %s\n", std::string(to_string(finding.kind)).c_str(),
                log_escaped(finding.subject).c_str(), log_escaped(finding.detail).c_str());
  }

  void progress(FolderCheck::Progress progress) {
    const std::lock_guard lock(mutex_);
    bar_.show(progress.bytes_done, progress.bytes_total);
  }

  void summary(const FolderReport& report) {
    if (json_) return json_summary(report);
    const std::lock_guard lock(mutex_);
    bar_.clear();
    for (std::size_t i = 0; i < kFindingKinds; ++i) {
      if (report.found[i] == 0) continue;
      std::printf("%8llu %s\n", static_cast<unsigned long long>(report.found[i]),
                  std::string(to_string(static_cast<FindingKind>(i))).c_str());
    }
    std::printf(
        "%s: %llu records, %llu files of %.1f MiB read, %llu uploads in progress, %llu "
        "findings\n",
        report.findings() == 0 ? "clean" : "not clean",
        static_cast<unsigned long long>(report.records),
        static_cast<unsigned long long>(report.files), mebibytes(report.bytes),
        static_cast<unsigned long long>(report.uploads),
        static_cast<unsigned long long>(report.findings()));
  }

 private:
  static double mebibytes(std::uint64_t bytes) {
    return static_cast<double>(bytes) / (1024.0 * 1024.0);
  }

  void json_finding(const Finding& finding) {
    std::string text = first_ ? "{\"findings\":[" : ",";
    first_ = false;
    text += "\n{\"kind\":";
    append_json_string(text, to_string(finding.kind));
    text += ",\"subject\":";
    append_json_string(text, finding.subject);
    text += ",\"detail\":";
    append_json_string(text, finding.detail);
    text += "}";
    std::fputs(text.c_str(), stdout);
  }

  void json_summary(const FolderReport& report) {
    std::string text = first_ ? "{\"findings\":[" : "\n";
    text += "],\"counts\":{";
    for (std::size_t i = 0; i < kFindingKinds; ++i) {
      if (i > 0) text += ",";
      append_json_string(text, to_string(static_cast<FindingKind>(i)));
      text += ":";
      append_json_number(text, report.found[i]);
    }
    text += "}";
    const auto number = [&text](std::string_view name, std::uint64_t value) {
      text += ",";
      append_json_string(text, name);
      text += ":";
      append_json_number(text, value);
    };
    number("records", report.records);
    number("files", report.files);
    number("bytes", report.bytes);
    number("uploads", report.uploads);
    text += report.findings() == 0 ? ",\"clean\":true}\n" : ",\"clean\":false}\n";
    std::fputs(text.c_str(), stdout);
  }

  const bool json_;
  ProgressBar bar_;
  bool first_ = true;  // FolderCheck makes findings one at a time.
  std::mutex mutex_;
};

Result<FolderReport> run_with_bar(FolderCheck& check, Printer& printer) {
  if (!printer.has_bar()) return check.run();
  StopSignal done;
  std::thread bar([&] {
    while (!done.wait_for(kBarEvery)) printer.progress(check.progress());
  });
  auto report = check.run();
  done.stop();
  bar.join();
  return report;
}

}  // namespace

int check_command(std::span<const char* const> args) {
  const auto flags = parse(args);
  if (!flags) return fail(flags.error(), kExitUsage);
  if (flags->help) {
    std::fputs(kUsage, stdout);
    return kExitClean;
  }
  const auto config = configured(flags->rest);
  if (!config) return fail(config.error(), kExitUsage);
  set_log_level(LogLevel::error);  // Opening the database is not what was asked about.

  const auto layout = with_linked_shards(
      {.upload_dir = config->upload_dir, .cache_dir = config->cache_dir}, config->volumes);
  if (!layout) return fail(layout.error(), kExitUsage);

  PosixDisk disk;
  const SystemClock clock;
  Printer printer(flags->json);
  FolderCheck check(disk, clock,
                    {.layout = *layout, .database_dir = config->database_dir, .jobs = flags->jobs},
                    [&printer](const Finding& finding) { printer.finding(finding); });
  const auto report = run_with_bar(check, printer);
  if (!report) return fail(report.error(), kExitUsage);
  printer.summary(*report);
  // A report that got lost is no clean report.
  if (std::fflush(stdout) != 0 || std::ferror(stdout) != 0) {
    return fail(Error(Errc::io_error, "cannot write to standard output"), kExitUsage);
  }
  return report->findings() == 0 ? kExitClean : kExitFindings;
}

}  // namespace orlop
