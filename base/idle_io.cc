#include "base/idle_io.h"

#include <linux/ioprio.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace orlop {

void use_disk_when_idle() {
  // ioprio_set(2) has no wrapper in libc.
  (void)::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

}  // namespace orlop
