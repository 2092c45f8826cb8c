#include "cli/health_command.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/json_writer.h"
#include "base/log.h"
#include "cli/client_flags.h"
#include "cli/exit.h"
#include "http/client_connection.h"

namespace orlop {
namespace {

/// Docker's own default is 30 s; a probe that says nothing for so long would hide an outage.
constexpr std::chrono::milliseconds kPatience{3'000};
constexpr std::size_t kReasonBytesMax = 64 << 10;

constexpr std::string_view kUsage =
    "usage: orlop health [flags]\n\n"
    "Asks the first origin whether it is ready (GET /readiness) and waits 3 s for the answer.\n\n";

Task<> ask(ClientConnection& origin, Result<HttpTextAnswer>& answer) {
  HttpRequest request;
  request.method = "GET";
  request.target = "/readiness";
  answer = co_await origin.exchange(request, {}, kReasonBytesMax);
}

void print(const ClientFlags& flags, bool ready, std::string reason) {
  while (reason.ends_with('\n')) reason.pop_back();
  if (!flags.json) {
    std::printf("%s\n", ready ? "ready" : reason.c_str());
    return;
  }
  std::string text = ready ? R"({"ready":true)" : R"({"ready":false,"reason":)";
  if (!ready) append_json_string(text, reason);
  text += '}';
  std::puts(text.c_str());
}

}  // namespace

int health_command(std::span<const char* const> args) {
  const auto flags = parse_client_flags(args, {}, std::getenv("ORLOP_ORIGIN"));
  if (!flags) return fail(flags.error(), kExitUsage);
  if (flags->help) {
    std::printf("%s%s", std::string(kUsage).c_str(), std::string(kClientFlagsHelp).c_str());
    return kExitDone;
  }
  if (!flags->operands.empty()) {
    return fail(Error(Errc::invalid_argument, "health takes no operands; see -help"), kExitUsage);
  }
  asio::io_context io{1};
  const ClientConnection::Limits limits{.connect_max = kPatience, .silence_max = kPatience};
  ClientConnection origin(io.get_executor(), flags->origins.front(), limits);
  Result<HttpTextAnswer> answer =
      Error(Errc::unavailable, origin.server().to_string() + ": no answer in time");
  asio::co_spawn(io, ask(origin, answer), rethrow);
  io.run_for(kPatience);  // In all: one who sends a byte now and then is not ready either.
  if (!answer) {
    print(*flags, false, answer.error().detail());
    return kExitFailed;
  }
  const bool ready = answer->head.status == 200;
  auto reason = answer->text.empty() ? "status " + std::to_string(answer->head.status)
                                     : log_escaped(answer->text);
  print(*flags, ready, std::move(reason));
  return ready ? kExitDone : kExitFailed;
}

}  // namespace orlop
