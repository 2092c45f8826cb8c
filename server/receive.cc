#include "server/receive.h"

#include <string>
#include <utility>

namespace orlop {

Task<Result<Received>> receive(Body& body, ChunkWriter& writer, std::uint64_t bytes_max) {
  for (;;) {
    auto count = co_await body.read_some(writer.space());
    if (!count && count.error().code() == Errc::unavailable) co_return Received::cut;
    if (!count) co_return std::move(count).error();
    if (*count == 0) co_return Received::complete;
    if (*count > bytes_max - writer.received_bytes()) {
      co_return Error(Errc::invalid_argument, "the body is longer than the " +
                                                  std::to_string(bytes_max) +
                                                  " bytes that were announced");
    }
    if (auto written = co_await writer.filled(*count); !written) {
      co_return std::move(written).error();
    }
  }
}

}  // namespace orlop
