#pragma once

namespace orlop {

/// From now on the calling thread gets the disk only when nobody else wants it. For work behind
/// the requests. A hint: some I/O schedulers ignore it, and where it is refused the thread is only
/// less polite.
void use_disk_when_idle();

}  // namespace orlop
