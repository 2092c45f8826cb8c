#include <string>

#include "server/handlers.h"
#include "server/health.h"

namespace orlop {

Task<Reply> get_health(Call&) { co_return text_reply(200, "OK\n"); }

/// Exactly "OK\n" when ready, because Kraken's peers look at it; else a reason a line. With
/// ?verbose also what the node is doing.
Task<Reply> get_readiness(Call& call) {
  auto reasons = call.origin.not_ready();
  if (call.health.draining()) reasons.emplace_back("draining: this node is about to stop");
  std::string facts;
  if (call.request.query == "verbose" || call.request.argument("verbose")) {
    for (const auto& fact : call.origin.status()) facts += fact + "\n";
  }
  if (reasons.empty()) co_return text_reply(200, "OK\n" + facts);
  std::string text = "not ready to serve traffic: ";
  for (std::size_t i = 0; i < reasons.size(); ++i) text += (i == 0 ? "" : "\n") + reasons[i];
  if (!facts.empty()) text += "\n" + facts;
  co_return kraken_error(503, text);
}

}  // namespace orlop
