#pragma once

#include "origin/origin.h"
#include "server/reply.h"

namespace orlop {

/// The answer to a GET or HEAD of a blob, on every path that has one. Of an unverified blob the
/// first piece that will be sent is compared before there is a head to regret: a blob that is found
/// bad then is as absent as it will be for the next request. Errors as BlobLookup::open. Counts as
/// a use of the blob.
Task<Result<Reply>> download_reply(Origin& origin, Digest digest, const Request& request);

}  // namespace orlop
