#include "server/handlers.h"
#include "server/health.h"
#include "server/metrics.h"

namespace orlop {

Task<Reply> get_metrics(Call& call) {
  auto* metrics = call.health.metrics();
  if (metrics == nullptr) co_return kraken_error(503, "this process serves no metrics");
  auto page = co_await metrics->page();
  if (!page) co_return kraken_error(page.error());
  co_return text_reply(200, *std::move(page), MetricPage::kContentType);
}

}  // namespace orlop
