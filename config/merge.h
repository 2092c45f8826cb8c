#pragma once

#include "config/node.h"

namespace orlop {

/// Lays `layer` over `merged`, a map, by the rules that follow in Kraken from decoding all files
/// into one structure (kraken-formats-and-store, 6.2): sections merge key by key at any depth;
/// scalars and lists are replaced whole; piece lengths merge by size; in a free-form map each
/// value is replaced whole; a null resets its key, or its whole section, to nothing.
///
/// A key given twice counts twice, in its order. Unknown keys and values of a wrong type are left
/// out: check_layer() has reported them. Afterwards `merged` has neither nulls nor repeated keys.
void merge_layer(Node& merged, const Node& layer);

}  // namespace orlop
