#include "cli/put_command.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/json_writer.h"
#include "base/log.h"
#include "cli/blob_file.h"
#include "cli/client_run.h"
#include "cli/exit.h"
#include "cli/progress_bar.h"
#include "cluster/transfer.h"

namespace orlop {
namespace {

constexpr std::string_view kUsage =
    "usage: orlop put [flags] FILE…\n\n"
    "Sends files to an origin and prints the digest that each has there. A connection that breaks\n"
    "is no failure: it goes on where the origin has the file up to.\n\n"
    "  -namespace NAME        where the blobs belong. Default: default\n";

class Put final : public ClientWork {
 public:
  explicit Put(const ClientFlags& flags) : flags_(flags) {}

  Task<int> run(const std::vector<OriginClient*>& origins) override {
    int code = kExitDone;
    for (const auto file : flags_.operands) {
      auto done = co_await put(origins, std::string(file));
      // The others are sent all the same.
      if (!done) code = fail(done.error(), kExitFailed);
    }
    co_return code;
  }

 private:
  Task<Result<>> put(const std::vector<OriginClient*>& origins, std::string file) {
    auto source = FileSource::open(file);  // Its errors name the file.
    if (!source) co_return std::move(source).error();
    const auto size = source->size_bytes();
    ProgressBar hashing(file + ": hash");
    const auto digest =
        source->digest([&hashing, size](std::uint64_t bytes) { hashing.show(bytes, size); });
    hashing.clear();
    if (!digest) co_return digest.error();

    ProgressBar sending(file + ": send");
    const TransferOptions options;
    const TransferProgress progress = [&sending, size](std::uint64_t bytes) {
      sending.show(bytes, size);
    };
    const auto uploaded =
        co_await upload_blob(origins, flags_.name_space, *digest, *source, options, progress);
    sending.clear();
    if (!uploaded) {
      auto error = uploaded.error();
      co_return std::move(error).within("put " + log_escaped(file));
    }
    print(file, *digest, size, *uploaded == Uploaded::was_here);
    co_return Result<>();
  }

  void print(const std::string& file, Digest digest, std::uint64_t size, bool was_here) const {
    if (!flags_.json) {
      std::printf("%s  %s%s\n", digest.to_string().c_str(), log_escaped(file).c_str(),
                  was_here ? "  (was there)" : "");
      return;
    }
    std::string text = R"({"file":)";
    append_json_string(text, file);
    text += R"(,"digest":)";
    append_json_string(text, digest.to_string());
    text += R"(,"size":)";
    append_json_number(text, size);
    text += was_here ? R"(,"was_there":true})" : R"(,"was_there":false})";
    std::puts(text.c_str());
  }

  const ClientFlags& flags_;
};

}  // namespace

int put_command(std::span<const char* const> args) {
  constexpr std::array<std::string_view, 1> kFlags = {"namespace"};
  const auto flags = parse_client_flags(args, kFlags, std::getenv("ORLOP_ORIGIN"));
  if (!flags) return fail(flags.error(), kExitUsage);
  if (flags->help) {
    std::printf("%s%s", std::string(kUsage).c_str(), std::string(kClientFlagsHelp).c_str());
    return kExitDone;
  }
  if (flags->operands.empty()) {
    return fail(Error(Errc::invalid_argument, "put: which files? See -help"), kExitUsage);
  }
  Put work(*flags);
  return run_client(*flags, work);
}

}  // namespace orlop
