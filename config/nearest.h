#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace orlop {

/// How many characters to insert, delete or replace, or neighbours to swap, to get from one text to
/// the other. Upper and lower case differ by one. Quadratic; texts are cut to 128 bytes first.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate with the least distance, the first of equals; empty if all are farther away than
/// `distance_max`.
std::string nearest(std::string_view text, const std::vector<std::string>& candidates,
                    std::size_t distance_max);

}  // namespace orlop
