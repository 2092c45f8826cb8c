#include "server/export_sidecars_command.h"

#include <cinttypes>
#include <cstdio>

#include "base/clock.h"
#include "base/disk.h"
#include "base/log.h"
#include "origin/sidecar_export.h"
#include "server/configured.h"
#include "store/volumes.h"

namespace orlop {

int export_sidecars_command(std::span<const char* const> args) {
  const auto config = configured(args);
  if (!config) return fail(config.error(), kExitUsage);
  if (config->help) {
    std::fputs(usage().c_str(), stdout);
    return kExitDone;
  }
  set_log_level(config->log_level);
  PosixDisk disk;
  const SystemClock clock;
  const auto options = origin_options(*config);
  const auto layout = with_linked_shards(options.layout, options.volumes);
  if (!layout) return fail(layout.error(), kExitUsage);
  const auto done = export_sidecars(*layout, options.database_dir, disk, clock);
  if (!done) {
    auto error = done.error();
    return fail(std::move(error).within("export-sidecars"), kExitFailed);
  }
  std::printf("exported the sidecars of %" PRIu64 " blobs, %" PRIu64 " of them pinned; %" PRIu64
              " are without metainfo\n",
              done->blobs, done->pinned, done->without_metainfo);
  if (done->without_file > 0) {
    std::printf("passed over %" PRIu64 " records without a file of their size\n",
                done->without_file);
  }
  return kExitDone;
}

}  // namespace orlop
