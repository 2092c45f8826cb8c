#include "cli/get_command.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>

#include "base/json_writer.h"
#include "base/log.h"
#include "cli/blob_file.h"
#include "cli/client_run.h"
#include "cli/digest_operand.h"
#include "cli/exit.h"
#include "cli/progress_bar.h"
#include "cluster/transfer.h"

namespace orlop {
namespace {

constexpr std::string_view kUsage =
    "usage: orlop get [flags] DIGEST\n\n"
    "Receives a blob and compares its bytes with the digest (sha256:… or its 64 digits). A\n"
    "connection that breaks is no failure: it goes on where it was.\n\n"
    "  -o FILE                where it goes; - is standard output. Default: a file named by the\n"
    "                         digest's 64 digits\n"
    "  -namespace NAME        where the blob belongs. Default: default\n";

class Get final : public ClientWork {
 public:
  Get(const ClientFlags& flags, Digest digest) : flags_(flags), digest_(digest) {}

  Task<int> run(const std::vector<OriginClient*>& origins) override {
    const auto received = co_await get(origins);
    if (!received) {
      auto error = received.error();
      co_return fail(std::move(error).within("get " + digest_.to_string()), kExitFailed);
    }
    print(*received);
    co_return kExitDone;
  }

 private:
  bool to_output() const { return flags_.output == "-"; }
  std::string path() const { return flags_.output.empty() ? digest_.hex() : flags_.output; }

  Task<Result<std::uint64_t>> get(const std::vector<OriginClient*>& origins) {
    if (!to_output()) {
      auto created = FileSink::create(path());
      if (!created) co_return std::move(created).error();
      file_.emplace(*std::move(created));
    }
    BlobSink& sink = file_ ? static_cast<BlobSink&>(*file_) : output_;
    const auto total = co_await size(origins);
    ProgressBar bar(path());
    const TransferOptions options;
    const TransferProgress progress = [&bar, total](std::uint64_t bytes) {
      bar.show(bytes, total);
    };
    const auto received =
        co_await download_blob(origins, flags_.name_space, digest_, sink, options, progress);
    bar.clear();
    if (received && file_) {
      if (auto finished = file_->finish(); !finished) co_return std::move(finished).error();
    }
    co_return received;
  }

  /// For the bar only: 0 where nobody knows.
  Task<std::uint64_t> size(const std::vector<OriginClient*>& origins) {
    for (auto* origin : origins) {
      const auto found = co_await origin->stat(flags_.name_space, digest_);
      if (found) co_return *found;
    }
    co_return 0;
  }

  void print(std::uint64_t size_bytes) const {
    if (to_output()) return;
    if (!flags_.json) {
      std::printf("%s  %s\n", digest_.to_string().c_str(), log_escaped(path()).c_str());
      return;
    }
    std::string text = R"({"file":)";
    append_json_string(text, path());
    text += R"(,"digest":)";
    append_json_string(text, digest_.to_string());
    text += R"(,"size":)";
    append_json_number(text, size_bytes);
    text += '}';
    std::puts(text.c_str());
  }

  const ClientFlags& flags_;
  const Digest digest_;
  std::optional<FileSink> file_;  // Here, so that an interrupted command removes it.
  OutputSink output_;
};

}  // namespace

int get_command(std::span<const char* const> args) {
  constexpr std::array<std::string_view, 2> kFlags = {"namespace", "o"};
  const auto flags = parse_client_flags(args, kFlags, std::getenv("ORLOP_ORIGIN"));
  if (!flags) return fail(flags.error(), kExitUsage);
  if (flags->help) {
    std::printf("%s%s", std::string(kUsage).c_str(), std::string(kClientFlagsHelp).c_str());
    return kExitDone;
  }
  if (flags->operands.size() != 1) {
    return fail(Error(Errc::invalid_argument, "get: expected one digest; see -help"), kExitUsage);
  }
  const auto digest = parse_digest_operand(flags->operands.front());
  if (!digest) return fail(digest.error(), kExitUsage);
  Get work(*flags, *digest);
  return run_client(*flags, work);
}

}  // namespace orlop
