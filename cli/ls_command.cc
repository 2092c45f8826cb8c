#include "cli/ls_command.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include "base/json_writer.h"
#include "cli/client_run.h"
#include "cli/exit.h"
#include "cluster/blob_page.h"

namespace orlop {
namespace {

constexpr std::size_t kPageBlobs = 1000;

constexpr std::string_view kUsage =
    "usage: orlop ls [flags]\n\n"
    "Lists the blobs of the first origin that can be reached: digest, size in bytes, and when it\n"
    "was stored.\n\n";

std::string utc(std::int64_t seconds) {
  const auto time = static_cast<std::time_t>(seconds);
  std::tm parts = {};
  if (::gmtime_r(&time, &parts) == nullptr) return "?";
  std::array<char, 64> text;
  const auto length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return std::string(text.data(), length);
}

class List final : public ClientWork {
 public:
  explicit List(const ClientFlags& flags) : flags_(flags) {}

  Task<int> run(const std::vector<OriginClient*>& origins) override {
    auto last = Error(Errc::unavailable, "no origin to ask");
    for (auto* origin : origins) {
      const auto listed = co_await list(*origin);
      if (listed) co_return kExitDone;
      last = listed.error();
      if (begun_ || last.code() != Errc::unavailable) break;  // Not half of one, half of another.
    }
    co_return fail(last, kExitFailed);
  }

 private:
  Task<Result<>> list(OriginClient& origin) {
    std::optional<Digest> after;
    for (;;) {
      const auto json = co_await origin.list(after, kPageBlobs);
      if (!json) co_return json.error();
      const auto page = parse_blob_page(*json);
      if (!page) co_return page.error();
      for (const auto& blob : page->blobs) print(blob);
      if (std::ferror(stdout) != 0) {
        co_return Error(Errc::io_error, "cannot write to standard output");
      }
      if (!page->next) co_return Result<>();
      if (after && *page->next <= *after) {
        co_return Error(Errc::corrupt, origin.origin().to_string() + " lists in circles");
      }
      after = page->next;
    }
  }

  void print(const BlobPage::Blob& blob) {
    begun_ = true;
    const auto digest = blob.digest.to_string();
    if (!flags_.json) {
      std::printf("%s %12llu  %s\n", digest.c_str(),
                  static_cast<unsigned long long>(blob.size_bytes), utc(blob.committed_at).c_str());
      return;
    }
    std::string text = R"({"digest":)";
    append_json_string(text, digest);
    text += R"(,"size":)";
    append_json_number(text, blob.size_bytes);
    text += R"(,"committed_at":)";
    append_json_number(text, blob.committed_at);
    text += '}';
    std::puts(text.c_str());
  }

  const ClientFlags& flags_;
  bool begun_ = false;
};

}  // namespace

int ls_command(std::span<const char* const> args) {
  const auto flags = parse_client_flags(args, {}, std::getenv("ORLOP_ORIGIN"));
  if (!flags) return fail(flags.error(), kExitUsage);
  if (flags->help) {
    std::printf("%s%s", std::string(kUsage).c_str(), std::string(kClientFlagsHelp).c_str());
    return kExitDone;
  }
  if (!flags->operands.empty()) {
    return fail(Error(Errc::invalid_argument, "ls takes no operands; see -help"), kExitUsage);
  }
  List work(*flags);
  return run_client(*flags, work);
}

}  // namespace orlop
