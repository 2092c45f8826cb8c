#pragma once

#include "server/router.h"

namespace orlop {

// One function an endpoint, in one file a group: each parses its input in the order in which
// Kraken checks it, calls the origin, and answers. docs/api.md describes them.

// health_handlers.cc
Task<Reply> get_health(Call& call);
Task<Reply> get_readiness(Call& call);

// metrics_handler.cc
Task<Reply> get_metrics(Call& call);

// kraken_read_handlers.cc
Task<Reply> get_locations(Call& call);
Task<Reply> get_peer_context(Call& call);
Task<Reply> get_blob(Call& call);
Task<Reply> prefetch_blob(Call& call);
Task<Reply> stat_blob(Call& call);
Task<Reply> get_metainfo(Call& call);

// kraken_upload_handlers.cc
Task<Reply> start_public_upload(Call& call);
Task<Reply> patch_public_upload(Call& call);
Task<Reply> commit_public_upload(Call& call);
Task<Reply> get_public_upload(Call& call);
Task<Reply> cancel_public_upload(Call& call);
Task<Reply> start_internal_upload(Call& call);
Task<Reply> patch_internal_upload(Call& call);
Task<Reply> commit_internal_upload(Call& call);
Task<Reply> get_internal_upload(Call& call);
Task<Reply> cancel_internal_upload(Call& call);
Task<Reply> commit_duplicate_upload(Call& call);

// kraken_operator_handlers.cc
Task<Reply> delete_blob(Call& call);
Task<Reply> overwrite_metainfo(Call& call);
Task<Reply> force_cleanup(Call& call);
Task<Reply> force_cleanup_to_target(Call& call);

// cas_handlers.cc
Task<Reply> put_cas_blob(Call& call);
Task<Reply> post_cas_blob(Call& call);
Task<Reply> get_cas_blob(Call& call);
Task<Reply> delete_cas_blob(Call& call);

// cas_listing_handler.cc
Task<Reply> list_cas_blobs(Call& call);

}  // namespace orlop
