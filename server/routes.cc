#include <array>

#include "server/handlers.h"

namespace orlop {
namespace {

using enum http::verb;
using enum RouteClass;

/// Every endpoint, with who may use it. Kraken's first (kraken 2a7fbcb7, origin/blobserver,
/// server.go), then ours.
constexpr std::array kRoutes = {
    Route{get, "/health", probe, get_health},
    Route{get, "/readiness", probe, get_readiness},
    Route{get, "/metrics", probe, get_metrics},
    Route{get, "/blobs/{digest}/locations", read, get_locations},
    Route{post, "/namespace/{namespace}/blobs/{digest}/uploads", write, start_public_upload},
    Route{patch, "/namespace/{namespace}/blobs/{digest}/uploads/{uid}", write, patch_public_upload},
    Route{put, "/namespace/{namespace}/blobs/{digest}/uploads/{uid}", write, commit_public_upload},
    Route{get, "/namespace/{namespace}/blobs/{digest}/uploads/{uid}", write, get_public_upload},
    Route{delete_, "/namespace/{namespace}/blobs/{digest}/uploads/{uid}", write,
          cancel_public_upload},
    Route{get, "/namespace/{namespace}/blobs/{digest}", read, get_blob},
    Route{post, "/namespace/{namespace}/blobs/{digest}/prefetch", write, prefetch_blob},
    Route{post, "/forcecleanup", operate, force_cleanup},
    Route{post, "/forcecleanup/v2", operate, force_cleanup_to_target},
    Route{post, "/internal/blobs/{digest}/uploads", write, start_internal_upload},
    Route{patch, "/internal/blobs/{digest}/uploads/{uid}", write, patch_internal_upload},
    Route{put, "/internal/blobs/{digest}/uploads/{uid}", write, commit_internal_upload},
    Route{get, "/internal/blobs/{digest}/uploads/{uid}", write, get_internal_upload},
    Route{delete_, "/internal/blobs/{digest}/uploads/{uid}", write, cancel_internal_upload},
    Route{delete_, "/internal/blobs/{digest}", operate, delete_blob},
    Route{post, "/internal/blobs/{digest}/metainfo", operate, overwrite_metainfo},
    Route{get, "/internal/peercontext", read, get_peer_context},
    Route{head, "/internal/namespace/{namespace}/blobs/{digest}", read, stat_blob},
    Route{get, "/internal/namespace/{namespace}/blobs/{digest}/metainfo", read, get_metainfo},
    Route{put, "/internal/duplicate/namespace/{namespace}/blobs/{digest}/uploads/{uid}", write,
          commit_duplicate_upload},

    Route{put, "/cas/{digest}", write, put_cas_blob},
    Route{post, "/cas", write, post_cas_blob},
    Route{get, "/cas", read, list_cas_blobs},
    Route{get, "/cas/{digest}", read, get_cas_blob},
    Route{delete_, "/cas/{digest}", operate, delete_cas_blob},
};

}  // namespace

std::span<const Route> all_routes() { return kRoutes; }

}  // namespace orlop
