#include "core/utf8.h"

#include <simdjson.h>

namespace orlop {

bool is_utf8(std::string_view bytes) { return simdjson::validate_utf8(bytes.data(), bytes.size()); }

}  // namespace orlop
