#pragma once

#include <string_view>

#include "base/error.h"

namespace rocksdb {
class Status;
}

namespace orlop {

/// What RocksDB says, as our error. Pre: `status` is not OK. The one place where it is translated.
/// For reads and for opening: after a failed write the guard speaks (metadata/database.h).
Error to_error(const rocksdb::Status& status, std::string_view action);

}  // namespace orlop
