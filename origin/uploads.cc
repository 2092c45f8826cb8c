#include "origin/uploads.h"

#include <string>
#include <utility>

#include "base/log.h"

namespace orlop {
namespace {

Error no_such_upload(std::string_view id) {
  // Only a well-formed id gets this far into a text.
  return Error(Errc::not_found, "upload " + std::string(id) + " is not known here for this digest");
}

Error too_long(std::uint64_t end, std::uint64_t bytes_max) {
  return Error(Errc::invalid_argument, "the blob would reach byte " + std::to_string(end) +
                                           ", but store.upload_bytes_max is " +
                                           std::to_string(bytes_max));
}

}  // namespace

Task<Result<bool>> Uploads::is_here(Digest digest) {
  const auto found = co_await lookup_.stat_verified(digest);
  if (found) co_return true;
  if (found.error().code() == Errc::not_found) co_return false;
  co_return found.error();
}

/// The blob is here, but its write-back may not be recorded: it may have come by another way.
Task<Result<>> Uploads::record_owed(Digest digest, const std::optional<WriteBackOrder>& owed) {
  if (!owed) co_return Result<>();
  co_return co_await pool_.run_admitted([&]() -> Result<> {
    const auto known = catalogue_.has_task(TaskKind::write_back, digest, owed->name_space);
    if (!known) return known.error();
    if (*known) return {};
    return catalogue_.add_task({.kind = TaskKind::write_back,
                                .digest = digest,
                                .name_space = owed->name_space,
                                .delay = owed->delay,
                                .created_at = std::chrono::system_clock::to_time_t(clock_.wall())});
  });
}

Task<Result<UnlessHere<UploadId>>> Uploads::start(Digest digest, std::uint64_t size_bytes,
                                                  std::optional<WriteBackOrder> owed) {
  if (size_bytes > options_.upload_bytes_max) {
    co_return too_long(size_bytes, options_.upload_bytes_max);
  }
  const auto here = co_await is_here(digest);
  if (!here) co_return here.error();
  if (*here) {
    if (auto recorded = co_await record_owed(digest, owed); !recorded) {
      co_return std::move(recorded).error();
    }
    co_return AlreadyHere{};
  }
  auto started = co_await pool_.run_admitted([&]() -> Result<std::shared_ptr<Upload>> {
    if (auto writable = catalogue_.writable(); !writable) return std::move(writable).error();
    Reservation space;
    if (auto held = space_.reserve(digest, space, size_bytes); !held)
      return std::move(held).error();
    return table_.start(digest, UploadLife::resumable, std::move(space));
  });
  if (!started) co_return std::move(started).error();
  (*started)->announce(size_bytes);
  co_return (*started)->id();
}

Task<Result<UnlessHere<ChunkWriter>>> Uploads::begin_chunk(Digest digest,
                                                           std::string_view upload_id,
                                                           ChunkRange range,
                                                           std::function<void()> interrupt) {
  auto here = co_await is_here(digest);
  if (!here) co_return std::move(here).error();
  const auto id = UploadId::parse(upload_id);
  auto upload = id ? table_.find(*id, digest) : nullptr;
  if (*here) {
    // The client stops at this answer and never cancels: its bytes are of no more use.
    if (upload != nullptr && upload->gate.idle()) co_await discard(*upload);
    co_return AlreadyHere{};
  }
  if (upload == nullptr) co_return no_such_upload(upload_id);

  if (range.end > options_.upload_bytes_max) {
    co_return too_long(range.end, options_.upload_bytes_max);
  }
  if (auto entered = co_await upload->gate.enter(std::move(interrupt)); !entered) {
    if (entered.error().code() != Errc::not_found) co_return std::move(entered).error();
    // Sealed for its commit: say what came of it.
    here = co_await is_here(digest);
    if (here && *here) co_return AlreadyHere{};
    co_return no_such_upload(upload_id);
  }
  // Inside the gate: only now does it stand still how far the upload is.
  if (auto reserved = co_await reserve(*upload, range.end); !reserved) {
    upload->gate.leave();
    co_return std::move(reserved).error();
  }
  upload->begin_chunk(range.start);
  ChunkWriter writer(std::move(upload), table_, pool_, options_.sync_while_streaming,
                     range.end - range.start);
  co_return UnlessHere<ChunkWriter>(std::move(writer));
}

Task<Result<Committed>> Uploads::commit(Digest digest, std::string_view upload_id,
                                        CommitNote note) {
  const auto id = UploadId::parse(upload_id);
  auto upload = id ? table_.find(*id, digest) : nullptr;
  if (upload == nullptr) co_return no_such_upload(upload_id);
  if (auto sealed = co_await upload->gate.seal(); !sealed) co_return std::move(sealed).error();
  co_return co_await commit_sealed(std::move(upload), digest, note);
}

std::optional<std::uint64_t> Uploads::received_bytes(Digest digest, std::string_view upload_id) {
  const auto id = UploadId::parse(upload_id);
  const auto upload = id ? table_.find(*id, digest) : nullptr;
  if (upload == nullptr) return std::nullopt;
  return upload->size_bytes();
}

Task<bool> Uploads::cancel(Digest digest, std::string_view upload_id) {
  const auto id = UploadId::parse(upload_id);
  const auto upload = id ? table_.find(*id, digest) : nullptr;
  if (upload == nullptr) co_return false;
  // Waits for a chunk that is being written; a commit that has begun is not taken back.
  if (auto sealed = co_await upload->gate.seal(); !sealed) co_return false;
  co_await discard(*upload);
  co_return true;
}

Task<Result<Uploads::Single>> Uploads::begin_single(Digest digest, std::uint64_t expected_bytes) {
  if (expected_bytes > options_.upload_bytes_max) {
    co_return too_long(expected_bytes, options_.upload_bytes_max);
  }
  auto started = co_await pool_.run([&]() -> Result<std::shared_ptr<Upload>> {
    if (auto writable = catalogue_.writable(); !writable) return std::move(writable).error();
    Reservation space;
    if (auto held = space_.reserve(digest, space, expected_bytes); !held)
      return std::move(held).error();
    return table_.start(digest, UploadLife::single, std::move(space));
  });
  if (!started) co_return std::move(started).error();
  auto upload = *std::move(started);
  if (auto entered = co_await upload->gate.enter(nullptr); !entered) {
    co_return std::move(entered).error();
  }
  upload->begin_chunk(0);
  ChunkWriter writer(upload, table_, pool_, options_.sync_while_streaming, expected_bytes);
  co_return Single{.upload = std::move(upload), .writer = std::move(writer)};
}

Task<Result<Committed>> Uploads::commit_single(std::shared_ptr<Upload> upload,
                                               std::optional<Digest> expected, CommitNote note) {
  if (auto sealed = co_await upload->gate.seal(); !sealed) co_return std::move(sealed).error();
  auto outcome = co_await commit_sealed(upload, expected, note);
  if (!outcome) co_await discard(*upload);  // Nobody can come back for it.
  co_return outcome;
}

Task<> Uploads::abandon_single(std::shared_ptr<Upload> upload) { co_await discard(*upload); }

Task<Result<MetaInfo>> Uploads::finish_bytes(Upload& upload) {
  if (const auto sync = upload.streaming_sync) co_await sync->done.wait();
  co_return co_await pool_.run_admitted([&] { return upload.finish(); });
}

Task<Result<Committed>> Uploads::commit_sealed(std::shared_ptr<Upload> upload,
                                               std::optional<Digest> expected,
                                               const CommitNote& note) {
  auto metainfo = co_await finish_bytes(*upload);
  if (!metainfo) {
    if (upload->in_doubt()) {
      co_await discard(*upload);
    } else {
      upload->gate.unseal();
    }
    co_return metainfo.error();
  }
  const auto digest = metainfo->digest();
  if (expected && *expected != digest) {
    co_await discard(*upload);
    co_return Error(Errc::digest_mismatch, "computed digest " + digest.to_string() +
                                               " doesn't match expected value " +
                                               expected->to_string());
  }

  const auto claim = co_await lookup_.claim(digest);
  if (!claim) {
    upload->gate.unseal();
    co_return claim.error();
  }
  const auto here = co_await pool_.run_admitted([&] { return lookup_.here_under_claim(digest); });
  if (!here) {
    upload->gate.unseal();
    co_return here.error();
  }
  if (*here) {
    if (auto recorded = co_await record_owed(digest, note.write_back); !recorded) {
      upload->gate.unseal();
      co_return std::move(recorded).error();
    }
    co_await discard(*upload);
    co_return Committed{.digest = digest, .size_bytes = metainfo->size_bytes(), .was_here = true};
  }

  const auto committed = co_await at_home(upload, digest);
  if (!committed) {
    upload->gate.unseal();
    co_return committed.error();
  }
  CommitRequest request{.upload = *committed, .metainfo = &*metainfo, .note = note};
  const auto failed = co_await publish(std::move(request));
  const bool was_copy = *committed != upload;
  if (was_copy) co_await discard(**committed);
  if (!failed) {
    const auto size_bytes = metainfo->size_bytes();
    co_await end_committed(*upload, *std::move(metainfo));
    co_return Committed{.digest = digest, .size_bytes = size_bytes, .was_here = false};
  }
  log_warn("commit_failed", {{"digest", digest.to_string()}, {"reason", failed->error.detail()}});
  if (failed->failure == CommitFailure::upload_lost && !was_copy) {
    co_await discard(*upload);
  } else {
    upload->gate.unseal();
  }
  co_return failed->error;
}

/// The upload itself, or a copy of it on the file system of its blob: one that was started without
/// its digest may lie on another.
Task<Result<std::shared_ptr<Upload>>> Uploads::at_home(std::shared_ptr<Upload> upload,
                                                       Digest digest) {
  if (table_.lies_where_blob_will(*upload, digest)) co_return upload;
  co_return co_await pool_.run_admitted([&]() -> Result<std::shared_ptr<Upload>> {
    Reservation space;
    auto held = space_.reserve(digest, space, upload->size_bytes());
    if (!held) return std::move(held).error();
    return table_.copy(*upload, digest, std::move(space));
  });
}

Task<CommitOutcome> Uploads::publish(CommitRequest request) {
  const auto done = std::make_shared<Event>();  // Shared with the committer's thread.
  CommitOutcome outcome;
  committer_.submit(std::move(request), [&outcome, done](CommitOutcome ended) {
    outcome = std::move(ended);
    done->set();
  });
  co_await done->wait();
  co_return outcome;
}

/// Holds the space for all that the client has announced, `end` included.
Task<Result<>> Uploads::reserve(Upload& upload, std::uint64_t end) {
  const auto wanted = upload.bytes_to_come(end);
  auto reserved =
      co_await pool_.run([&] { return space_.reserve(upload.digest(), upload.space, wanted); });
  // A chunk that was refused binds nobody: a smaller one may still fit.
  if (reserved) upload.announce(end);
  co_return reserved;
}

/// The upload's file has become the blob; this removes the session. Pre: the digest is claimed.
Task<> Uploads::end_committed(Upload& upload, MetaInfo metainfo) {
  (void)co_await pool_.run_admitted([&]() -> Result<> {
    table_.discard(upload);
    metainfo_.remember(std::move(metainfo));
    return {};
  });
}

Task<> Uploads::discard(Upload& upload) {
  (void)co_await pool_.run_admitted([&]() -> Result<> {
    table_.discard(upload);
    return {};
  });
}

}  // namespace orlop
