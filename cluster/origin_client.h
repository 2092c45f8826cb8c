#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "core/digest.h"
#include "http/client_connection.h"

namespace orlop {

/// One origin, Kraken's or ours, through Kraken's API (docs/api.md). One request at a time, over
/// one connection, from one reactor.
///
/// Errors, so that a caller knows whether another origin may do better: `not_found` for 404,
/// `invalid_argument` for any other 4xx, `busy` for 429 and 503, `unavailable` if the origin cannot
/// be reached or a gateway cannot reach it (502, 504), `io_error` for 500, `corrupt` for what is no
/// answer of an origin. The detail has the origin's name and its own words.
class OriginClient {
 public:
  OriginClient(const Executor& executor, Endpoint origin, ClientConnection::Limits limits = {})
      : connection_(executor, std::move(origin), limits) {}

  const Endpoint& origin() const { return connection_.server(); }

  /// The size of a blob that is here.
  Task<Result<std::uint64_t>> stat(std::string_view name_space, Digest digest);

  /// Begins an upload of `size_bytes`. Its id, or nothing if the blob is here already.
  Task<Result<std::optional<std::string>>> start_upload(std::string_view name_space, Digest digest,
                                                        std::uint64_t size_bytes);
  /// How far an upload is, in bytes from its start. Ours: a Kraken origin says `not_found`.
  Task<Result<std::uint64_t>> upload_offset(std::string_view name_space, Digest digest,
                                            std::string_view id);
  /// Begins the chunk [start, end): the caller sends its bytes by `write` and ends it by
  /// `end_chunk`.
  Task<Result<>> begin_chunk(std::string_view name_space, Digest digest, std::string_view id,
                             std::uint64_t start, std::uint64_t end);
  /// ClientConnection::write.
  Task<Result<bool>> write(std::span<const std::byte> bytes) { return connection_.write(bytes); }
  /// True; false if the blob is here meanwhile, so that nothing is left to be done.
  Task<Result<bool>> end_chunk();
  Task<Result<>> commit_upload(std::string_view name_space, Digest digest, std::string_view id);

  /// What the head of a download says.
  struct Download {
    bool ready = false;       ///< False: 202, the origin fetches the blob first; ask again.
    std::uint64_t first = 0;  ///< Where the bytes that follow begin in the blob.
    std::optional<std::uint64_t> bytes;  ///< How many follow, if the origin says.
  };
  /// Asks for the bytes from `first` on. The origin may answer with the whole blob all the same.
  /// The bytes are then read by `read_some`.
  Task<Result<Download>> begin_download(std::string_view name_space, Digest digest,
                                        std::uint64_t first);
  /// ClientConnection::read_some.
  Task<Result<std::size_t>> read_some(std::span<std::byte> into) {
    return connection_.read_some(into);
  }

  /// Removes the blob from this origin.
  Task<Result<>> remove(Digest digest);

  /// The owners' labels, separated by commas, the first owner first.
  Task<Result<std::string>> locations(Digest digest);

  /// A page of the JSON list of GET /cas. Ours.
  Task<Result<std::string>> list(std::optional<Digest> after, std::size_t limit);

 private:
  Task<Result<HttpTextAnswer>> ask(const HttpRequest& request);

  ClientConnection connection_;
};

}  // namespace orlop
