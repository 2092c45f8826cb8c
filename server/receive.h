#pragma once

#include <cstdint>

#include "origin/chunk_writer.h"
#include "server/body.h"

namespace orlop {

/// How receiving a body into an upload ended, when nothing of ours failed.
enum class Received : std::uint8_t {
  complete,  ///< The body ended.
  cut,       ///< The client is gone; what arrived may be kept.
};

/// Moves a request's body into a chunk, at most `bytes_max` of it. `invalid_argument` if the body
/// is longer or its framing is broken: then the caller undoes the chunk. Any other error is ours,
/// and the upload is gone. The caller ends the writer unless it failed itself.
Task<Result<Received>> receive(Body& body, ChunkWriter& writer, std::uint64_t bytes_max);

}  // namespace orlop
