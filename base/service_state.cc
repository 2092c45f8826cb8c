#include "base/service_state.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

#include "base/unique_fd.h"

namespace orlop {

void tell_service_manager(std::string_view state) {
  const char* name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr) return;
  const std::string_view path(name);
  sockaddr_un to = {};
  to.sun_family = AF_UNIX;
  // A path, or with an '@' for its NUL a name in the abstract namespace (unix(7)).
  if (path.empty() || path.size() >= sizeof to.sun_path || (path[0] != '/' && path[0] != '@')) {
    return;
  }
  std::memcpy(to.sun_path, path.data(), path.size());
  if (path[0] == '@') to.sun_path[0] = '\0';
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
  const UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket) return;
  // It must never hold us up, and there is nobody to tell if it fails.
  (void)::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
                 reinterpret_cast<const sockaddr*>(&to), size);
}

}  // namespace orlop
