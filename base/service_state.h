#pragma once

#include <string_view>

namespace orlop {

/// Tells the service manager how this process does: "READY=1", "STOPPING=1", "STATUS=…"
/// (sd_notify(3): one datagram to the socket that NOTIFY_SOCKET names). Does nothing where there is
/// none. That is all of libsystemd that we would use, so it is not linked.
void tell_service_manager(std::string_view state);

}  // namespace orlop
