#include "cluster/transfer.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "core/digester.h"

namespace orlop {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kBufferBytes = 1 << 20;
/// Kraken's client asks again after 1 s, and each time a third later, up to 5 s.
constexpr milliseconds kFetchFirstPause{1'000};
constexpr milliseconds kFetchLongestPause{5'000};

Task<> rest(milliseconds time) {
  SteadyTimer timer(co_await asio::this_coro::executor, time);
  co_await timer.async_wait(no_throw);
}

/// Whether the same request may succeed elsewhere, or here and later.
bool worth_trying_on(const Error& error) {
  switch (error.code()) {
    case Errc::busy:
    case Errc::unavailable:
    case Errc::io_error:
    case Errc::timed_out: return true;
    default: return false;
  }
}

/// How often an origin has failed in a row, and how long to wait before it is asked again.
class Patience {
 public:
  explicit Patience(const TransferOptions& options)
      : options_(options), pause_(options.first_pause) {}

  /// The bytes that are there now. More than before make up for all failures.
  void note_progress(std::uint64_t bytes) {
    if (bytes <= furthest_) return;
    furthest_ = bytes;
    failures_ = 0;
    pause_ = options_.first_pause;
  }
  /// False: it is time to give up.
  bool failed() { return ++failures_ < options_.failures_max; }
  milliseconds pause() {
    return std::exchange(pause_, std::min(pause_ * 2, options_.longest_pause));
  }

 private:
  const TransferOptions& options_;
  milliseconds pause_;
  std::uint64_t furthest_ = 0;
  int failures_ = 0;
};

/// An upload to one origin.
class Upload {
 public:
  Upload(OriginClient& origin, std::string_view name_space, Digest digest, BlobSource& source,
         const TransferOptions& options, const TransferProgress& progress)
      : origin_(origin),
        name_space_(name_space),
        digest_(digest),
        source_(source),
        options_(options),
        progress_(progress),
        patience_(options),
        buffer_(std::min<std::uint64_t>(kBufferBytes,
                                        std::max<std::uint64_t>(source.size_bytes(), 1))) {}

  Task<Result<Uploaded>> run() {
    for (;;) {
      auto done = co_await attempt();
      if (done) co_return done;
      // An upload that the origin has lost (it may have been restarted elsewhere) begins again.
      if (done.error().code() == Errc::not_found && id_) {
        id_.reset();
      } else if (source_failed_ || !worth_trying_on(done.error())) {
        co_return done;
      }
      if (!patience_.failed()) co_return done;
      co_await rest(patience_.pause());
    }
  }

  bool source_failed() const { return source_failed_; }

 private:
  Task<Result<Uploaded>> attempt() {
    std::uint64_t offset = 0;
    if (id_) {
      const auto reached = co_await origin_.upload_offset(name_space_, digest_, *id_);
      if (!reached) co_return reached.error();
      offset = std::min(*reached, source_.size_bytes());
    } else {
      auto id = co_await origin_.start_upload(name_space_, digest_, source_.size_bytes());
      if (!id) co_return std::move(id).error();
      if (!*id) co_return Uploaded::was_here;
      id_ = **id;
    }
    note(offset);
    while (offset < source_.size_bytes()) {
      const auto end = std::min(offset + options_.chunk_bytes, source_.size_bytes());
      const auto wanted = co_await send_chunk(offset, end);
      if (!wanted) co_return wanted.error();
      if (!*wanted) co_return Uploaded::was_here;
      offset = end;
      patience_.note_progress(offset);
    }
    if (auto committed = co_await origin_.commit_upload(name_space_, digest_, *id_); !committed) {
      co_return std::move(committed).error();
    }
    co_return Uploaded::sent;
  }

  /// False if the blob is there meanwhile.
  Task<Result<bool>> send_chunk(std::uint64_t start, std::uint64_t end) {
    if (auto begun = co_await origin_.begin_chunk(name_space_, digest_, *id_, start, end); !begun) {
      co_return std::move(begun).error();
    }
    while (start < end) {
      const auto count = std::min<std::uint64_t>(buffer_.size(), end - start);
      const auto part = std::span(buffer_).first(static_cast<std::size_t>(count));
      if (auto read = source_.read(part, start); !read) {
        source_failed_ = true;
        co_return std::move(read).error();
      }
      const auto wanted = co_await origin_.write(part);
      if (!wanted) co_return wanted.error();
      if (!*wanted) break;  // The answer says why.
      start += count;
      if (progress_) progress_(start);
    }
    co_return co_await origin_.end_chunk();
  }

  void note(std::uint64_t offset) {
    patience_.note_progress(offset);
    if (progress_) progress_(offset);
  }

  OriginClient& origin_;
  const std::string_view name_space_;
  const Digest digest_;
  BlobSource& source_;
  const TransferOptions& options_;
  const TransferProgress& progress_;
  Patience patience_;
  std::vector<std::byte> buffer_;
  std::optional<std::string> id_;
  bool source_failed_ = false;
};

/// A download, over all origins that it takes.
class Fetch {
 public:
  Fetch(std::string_view name_space, Digest digest, BlobSink& sink, const TransferOptions& options,
        const TransferProgress& progress)
      : name_space_(name_space),
        digest_(digest),
        sink_(sink),
        options_(options),
        progress_(progress),
        buffer_(kBufferBytes) {}

  /// All of the blob, from where it is now.
  Task<Result<std::uint64_t>> from(OriginClient& origin) {
    Patience patience(options_);
    for (;;) {
      auto done = co_await attempt(origin);
      if (done) co_return co_await check();
      patience.note_progress(received_);
      const bool cut = done.error().code() == Errc::corrupt;  // It stopped within its answer.
      if (sink_failed_ || !(cut || worth_trying_on(done.error()))) co_return done.error();
      if (!patience.failed()) co_return done.error();
      co_await rest(patience.pause());
    }
  }

  bool sink_failed() const { return sink_failed_; }

 private:
  Task<Result<>> attempt(OriginClient& origin) {
    auto pause = kFetchFirstPause;
    const auto give_up_at = std::chrono::steady_clock::now() + options_.fetch_max;
    auto download = co_await origin.begin_download(name_space_, digest_, received_);
    while (download && !download->ready) {
      if (std::chrono::steady_clock::now() >= give_up_at) {
        co_return Error(Errc::busy, origin.origin().to_string() + " still fetches the blob");
      }
      co_await rest(pause);
      pause = std::min(pause * 13 / 10, kFetchLongestPause);
      download = co_await origin.begin_download(name_space_, digest_, received_);
    }
    if (!download) co_return download.error();
    if (download->first > received_) {
      co_return Error(Errc::corrupt, origin.origin().to_string() + " sends another range");
    }
    auto at = download->first;
    for (;;) {
      const auto count = co_await origin.read_some(buffer_);
      if (!count) co_return count.error();
      if (*count == 0) break;
      // What is here already comes again where the origin takes no ranges.
      const auto known = std::min<std::uint64_t>(received_ - at, *count);
      at += *count;
      const auto fresh = std::span<const std::byte>(buffer_).first(*count).subspan(known);
      if (fresh.empty()) continue;
      if (auto taken = take(fresh); !taken) co_return taken;
    }
    co_return Result<>();
  }

  Result<> take(std::span<const std::byte> bytes) {
    if (auto written = sink_.write(bytes); !written) {
      sink_failed_ = true;
      return written;
    }
    digester_.update(bytes);
    received_ += bytes.size();
    if (progress_) progress_(received_);
    return {};
  }

  Task<Result<std::uint64_t>> check() {
    const auto size = std::exchange(received_, 0);
    const auto found = std::exchange(digester_, Digester()).finish();
    if (found == digest_) co_return size;
    if (auto restarted = sink_.restart(); !restarted) {
      sink_failed_ = true;
      co_return std::move(restarted).error();
    }
    co_return Error(Errc::digest_mismatch, "the bytes that came for " + digest_.to_string() +
                                               " are those of " + found.to_string());
  }

  const std::string_view name_space_;
  const Digest digest_;
  BlobSink& sink_;
  const TransferOptions& options_;
  const TransferProgress& progress_;
  std::vector<std::byte> buffer_;
  Digester digester_;
  std::uint64_t received_ = 0;
  bool sink_failed_ = false;
};

}  // namespace

Task<Result<Uploaded>> upload_blob(std::vector<OriginClient*> origins, std::string_view name_space,
                                   Digest digest, BlobSource& source,
                                   const TransferOptions& options,
                                   const TransferProgress& progress) {
  auto last = Error(Errc::invalid_argument, "no origin to send to");
  for (auto* origin : origins) {
    Upload upload(*origin, name_space, digest, source, options, progress);
    auto done = co_await upload.run();
    if (done) co_return done;
    last = done.error();
    if (upload.source_failed() || !worth_trying_on(last)) break;
  }
  co_return last;
}

Task<Result<std::uint64_t>> download_blob(std::vector<OriginClient*> origins,
                                          std::string_view name_space, Digest digest,
                                          BlobSink& sink, const TransferOptions& options,
                                          const TransferProgress& progress) {
  auto last = Error(Errc::invalid_argument, "no origin to ask");
  Fetch fetch(name_space, digest, sink, options, progress);
  for (auto* origin : origins) {
    auto done = co_await fetch.from(*origin);
    if (done) co_return done;
    // "Not here" is the least interesting of several answers.
    const bool first = last.code() == Errc::invalid_argument;
    if (first || done.error().code() != Errc::not_found) last = done.error();
    if (fetch.sink_failed()) break;
  }
  co_return last;
}

}  // namespace orlop
