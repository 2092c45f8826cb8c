#include "server/send.h"

#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/resident.h"

namespace orlop {
namespace {

/// One call takes a whole slice; smaller ones cost up to half as much again
/// (docs/decisions/0003-serving-path.md).
constexpr std::uint64_t kSliceBytes = 1 << 20;
/// After this many slices the others on the reactor get their turn.
constexpr int kSlicesPerTurn = 4;

Task<bool> send_gathered(Connection& connection, asio::const_buffer head, asio::const_buffer body,
                         const SendOptions& options) {
  std::array<asio::const_buffer, 2> left = {head, body};
  while (left[0].size() + left[1].size() > 0) {
    connection.expect_taking(options.silence_max);
    // Not async_write: that sends at most 64 KiB a call.
    const auto [error, written] = co_await connection.socket.async_write_some(left, no_throw);
    connection.sent(written);
    if (error) co_return false;
    const auto from_head = std::min(written, left[0].size());
    left[0] += from_head;
    left[1] += written - from_head;
  }
  connection.expect_nothing();
  co_return true;
}

/// Sends what the socket takes of a slice; the count, or -1 with errno.
ssize_t send_slice(int socket, int file, std::uint64_t offset, std::uint64_t length) {
  auto from = static_cast<off_t>(offset);
  return ::sendfile(socket, file, &from, static_cast<std::size_t>(length));
}

Task<bool> send_file(Connection& connection, const OpenBlob& blob, std::uint64_t offset,
                     std::uint64_t length, WorkerPool& pool, const SendOptions& options) {
  const int file = blob.file.get();
  const auto end = offset + length;
  int slices = 0;
  std::uint64_t probed_to = offset;
  while (offset < end) {
    const auto slice = std::min(kSliceBytes, end - offset);
    if (offset >= probed_to) {
      if (!is_resident(file, offset)) {
        (void)co_await pool.run_admitted([&]() -> Result<> {
          read_in(file, offset, slice);
          return {};
        });
      }
      probed_to = offset + slice;
    }
    const auto sent = send_slice(connection.socket.native_handle(), file, offset,
                                 std::min(slice, probed_to - offset));
    if (sent > 0) {
      connection.sent(static_cast<std::size_t>(sent));
      offset += static_cast<std::uint64_t>(sent);
      if (++slices % kSlicesPerTurn == 0 && offset < end) {
        co_await asio::post(connection.socket.get_executor(), asio::use_awaitable_t<Executor>());
      }
      continue;
    }
    if (sent == 0 || (errno != EAGAIN && errno != EINTR)) {
      // The head promised more. Ending the connection is the only honest answer left.
      const auto reason = sent == 0 ? Error(Errc::corrupt, "the file became shorter")
                                    : Error::from_errno("sendfile", errno);
      const bool ours = sent == 0 || (errno != EPIPE && errno != ECONNRESET);
      if (ours) {
        log_error("download_aborted",
                  {{"digest", blob.digest.to_string()}, {"reason", reason.detail()}});
      }
      co_return false;
    }
    connection.expect_taking(options.silence_max);
    const auto [error] = co_await connection.socket.async_wait(Socket::wait_write, no_throw);
    if (error) co_return false;
  }
  connection.expect_nothing();
  co_return true;
}

/// The bytes of a blob that is not verified, piece after piece, each compared before it goes out.
Task<bool> send_checked(Connection& connection, const OpenBlob& blob, std::uint64_t offset,
                        std::uint64_t length, WorkerPool& pool, const SendOptions& options) {
  const auto end = offset + length;
  while (offset < end) {
    if (blob.checked->verified()) break;
    const auto bytes = co_await blob.checked->read(blob.file, offset);
    if (!bytes) {
      log_error("download_aborted",
                {{"digest", blob.digest.to_string()}, {"reason", bytes.error().detail()}});
      co_return false;
    }
    const auto count = std::min<std::uint64_t>(bytes->size(), end - offset);
    const asio::const_buffer piece(bytes->data(), static_cast<std::size_t>(count));
    if (!co_await send_gathered(connection, {}, piece, options)) co_return false;
    offset += count;
  }
  if (offset == end) co_return true;
  co_return co_await send_file(connection, blob, offset, end - offset, pool, options);
}

/// A part of a blob that is not in memory.
Task<bool> send_part(Connection& connection, const OpenBlob& blob, std::uint64_t offset,
                     std::uint64_t length, WorkerPool& pool, const SendOptions& options) {
  if (blob.checked == nullptr) return send_file(connection, blob, offset, length, pool, options);
  return send_checked(connection, blob, offset, length, pool, options);
}

asio::const_buffer body_in_memory(const Reply& reply) {
  if (reply.metainfo != nullptr) return asio::buffer(reply.metainfo->json());
  if (reply.blob == nullptr) return asio::buffer(reply.text);
  if (reply.blob->bytes.empty()) return {};
  return asio::buffer(reply.blob->bytes.data() + reply.blob_offset,
                      static_cast<std::size_t>(reply.blob_length));
}

/// Makes the kernel send full packets only, for as long as it lives: parts may be of one byte each
/// (tcp(7), TCP_CORK). If that cannot be had, they are just sent in more packets.
class Cork {
 public:
  explicit Cork(int socket) : socket_(socket) { set(1); }
  Cork(const Cork&) = delete;
  Cork& operator=(const Cork&) = delete;
  ~Cork() { set(0); }

 private:
  void set(int on) { (void)::setsockopt(socket_, IPPROTO_TCP, TCP_CORK, &on, sizeof on); }

  const int socket_;
};

/// Several parts of a blob: of a small one in one write, of a large one part by part.
Task<bool> send_multipart(Connection& connection, asio::const_buffer head, const Reply& reply,
                          WorkerPool& pool, const SendOptions& options) {
  if (!reply.blob->bytes.empty()) {
    const auto text = reply.multipart->text(reply.blob->bytes);
    const asio::const_buffer body(text.data(), text.size());
    co_return co_await send_gathered(connection, head, body, options);
  }
  const Cork cork(connection.socket.native_handle());
  asio::const_buffer before = head;
  for (const auto& part : reply.multipart->parts()) {
    // Ends with a turn of the loop, so many small parts do not keep the reactor from the others.
    const asio::const_buffer part_head(part.head.data(), part.head.size());
    if (!co_await send_gathered(connection, before, part_head, options)) co_return false;
    before = {};
    if (!co_await send_part(connection, *reply.blob, part.range.first, part.range.length(), pool,
                            options)) {
      co_return false;
    }
  }
  const asio::const_buffer end(reply.multipart->end().data(), reply.multipart->end().size());
  co_return co_await send_gathered(connection, before, end, options);
}

}  // namespace

Task<bool> send_reply(Connection& connection, const Reply& reply, const Request& request,
                      bool keep_alive, std::string_view date, WorkerPool& pool,
                      const SendOptions& options) {
  const auto head = head_of(reply, request, keep_alive, date);
  const asio::const_buffer head_bytes(head.data(), head.size());
  if (reply.multipart != nullptr && !request.is_head()) {
    co_return co_await send_multipart(connection, head_bytes, reply, pool, options);
  }
  const auto body = request.is_head() ? asio::const_buffer() : body_in_memory(reply);
  if (!co_await send_gathered(connection, head_bytes, body, options)) co_return false;
  const bool from_file = reply.blob != nullptr && reply.blob->bytes.empty();
  if (!from_file || request.is_head() || reply.blob_length == 0) co_return true;
  co_return co_await send_part(connection, *reply.blob, reply.blob_offset, reply.blob_length, pool,
                               options);
}

}  // namespace orlop
