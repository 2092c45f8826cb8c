#pragma once

#include <span>

namespace orlop {

/// `orlop check-config [flags]`: reads the configuration as `serve` with the same flags would,
/// prints what holds and who said it, what has no effect, and how a trial on the real disk and the
/// real address went. Leaves nothing behind and may run beside a daemon.
///
/// One line each: `key = value (source)`, then `notice: …`, `ok: …`, `warning: …`, `failure: …`.
/// Values from -secrets are not shown. The exit code: 2 if a daemon would not start or could not
/// take a blob, else 0.
int check_config_command(std::span<const char* const> args);

}  // namespace orlop
